// Factorisations with row and column orders on both backends.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "backends.hpp"
#include "measure.hpp"
#include "problems.hpp"

namespace taskdag {
namespace {

TASKDAG_BACKEND_SUITE(OrderingTest, test::everywhere());

std::vector<double> gathered(const std::vector<double>& v, const std::vector<Index>& order) {
  std::vector<double> result;
  result.reserve(order.size());
  for (const Index old : order) result.push_back(v[static_cast<std::size_t>(old)]);
  return result;
}

std::vector<double> scattered(const std::vector<double>& v, const std::vector<Index>& order) {
  std::vector<double> result(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) result[static_cast<std::size_t>(order[i])] = v[i];
  return result;
}

std::vector<Index> reversed(Index n) {
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

struct Ordered {
  std::string name;
  CsrMatrix a;
  std::vector<Index> row_order;
  std::vector<Index> col_order;
  bool symmetric;  // the same order for rows and columns: for ic0 too
};

std::vector<Ordered> ordered_problems() {
  std::vector<Ordered> result;
  for (test::Problem& problem : test::small_problems()) {
    std::vector<Index> rcm = reverse_cuthill_mckee(problem.a.pattern());
    result.push_back({problem.name + ", rcm", problem.a, rcm, rcm, true});
    const std::vector<Index> turned = reversed(problem.a.rows);
    result.push_back({problem.name + ", reversed", std::move(problem.a), turned, turned, true});
  }
  // Different orders: the rows of a dominant matrix are shuffled, and row_order puts them back under rcm.
  for (test::Problem& problem : test::small_problems()) {
    const Index n = problem.a.rows;
    std::vector<Index> shuffle(static_cast<std::size_t>(n));
    std::iota(shuffle.begin(), shuffle.end(), 0);
    std::rotate(shuffle.begin(), shuffle.begin() + n / 3, shuffle.end());
    std::vector<Index> natural(static_cast<std::size_t>(n));
    std::iota(natural.begin(), natural.end(), 0);
    const std::vector<Index> position = invert_permutation(shuffle);
    const std::vector<Index> rcm = reverse_cuthill_mckee(problem.a.pattern());
    std::vector<Index> row_order;
    row_order.reserve(rcm.size());
    for (const Index old : rcm) row_order.push_back(position[static_cast<std::size_t>(old)]);
    result.push_back(
        {problem.name + ", rows shuffled", test::permuted(problem.a, shuffle, natural), row_order, rcm, false});
  }
  return result;
}

TEST_P(OrderingTest, OrdersGiveTheFactorOfThePermutedMatrix) {
  for (const Ordered& problem : ordered_problems()) {
    const CsrMatrix b = test::permuted(problem.a, problem.row_order, problem.col_order);
    for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
      if (kind == FactorKind::ic && !problem.symmetric) continue;
      SCOPED_TRACE(problem.name + (kind == FactorKind::ic ? ", ic0" : ", ilu0"));
      Factorization ordered = factorization(problem.a, {.kind = kind}, problem.row_order, problem.col_order);
      Factorization plain = factorization(b, {.kind = kind});
      ASSERT_TRUE(factor(ordered, problem.a.values).ok());
      ASSERT_TRUE(factor(plain, b.values).ok());
      EXPECT_EQ(ordered.copy_factor().row_offsets, plain.copy_factor().row_offsets);
      EXPECT_EQ(ordered.copy_factor().col_indices, plain.copy_factor().col_indices);
      EXPECT_TRUE(test::same_bits(ordered.copy_factor().values, plain.copy_factor().values));
      EXPECT_LE(test::factor_error(b, plain.copy_factor(), kind), 1.0);
      EXPECT_EQ(ordered.info().lower_levels, plain.info().lower_levels);

      const std::vector<double> v = test::right_hand_side(problem.a.rows);
      const std::vector<double> full =
          scattered(apply(plain, Apply::full, gathered(v, problem.row_order)), problem.col_order);
      EXPECT_TRUE(test::same_bits(apply(ordered, Apply::full, v), full));
      EXPECT_TRUE(test::same_bits(apply_in_place(ordered, Apply::full, v), full));
      const std::vector<double> transposed =
          scattered(apply(plain, Apply::transposed, gathered(v, problem.col_order)), problem.row_order);
      EXPECT_TRUE(test::same_bits(apply(ordered, Apply::transposed, v), transposed));
      EXPECT_TRUE(test::same_bits(apply_in_place(ordered, Apply::transposed, v), transposed));
      if (kind != FactorKind::ic) continue;
      const std::vector<double> left = apply(plain, Apply::symmetric_left, gathered(v, problem.row_order));
      EXPECT_TRUE(test::same_bits(apply(ordered, Apply::symmetric_left, v), left));
      EXPECT_TRUE(test::same_bits(apply_in_place(ordered, Apply::symmetric_left, v), left));
      const std::vector<double> right = scattered(apply(plain, Apply::symmetric_right, v), problem.row_order);
      EXPECT_TRUE(test::same_bits(apply(ordered, Apply::symmetric_right, v), right));
      EXPECT_TRUE(test::same_bits(apply_in_place(ordered, Apply::symmetric_right, v), right));
    }
  }
}

TEST_P(OrderingTest, OneOrderAloneLeavesTheOtherNatural) {
  const CsrMatrix a = test::tridiagonal(4, 0, 2, 0);
  const std::vector<Index> swapped = {1, 0, 2, 3};
  EXPECT_THROW(static_cast<void>(factorization(a, {}, swapped, {})), InvalidInput);
  const CsrMatrix full{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 4, 5, 2}};
  Factorization rows = factorization(full, {}, {1, 0}, {});
  ASSERT_TRUE(factor(rows, full.values).ok());
  // On CUDA a unit in the last place may be lost: the sweeps hold inverse pivots.
  EXPECT_LE(test::difference(rows.copy_factor().values, std::vector<double>{5, 2, 0.2, 4 - 0.4}), 2e-16);
  Factorization columns = factorization(full, {}, {}, {1, 0});
  ASSERT_TRUE(factor(columns, full.values).ok());
  EXPECT_EQ(columns.copy_factor().values, (std::vector<double>{4, 1, 0.5, 4.5}));
}

TEST_P(OrderingTest, ZeroPivotsAreCountedInTheFactorsNumbering) {
  CsrMatrix a = test::tridiagonal(10, 0, 2, 0);
  a.values[3] = 0.0;
  std::vector<Index> order = {3, 0, 1, 2, 4, 5, 6, 7, 8, 9};
  for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
    Factorization f = factorization(a, {.kind = kind}, order, order);
    const FactorStatus status = factor(f, a.values);
    EXPECT_EQ(status.outcome, FactorOutcome::zero_pivot);
    EXPECT_EQ(status.first_row, 0);
    EXPECT_EQ(status.last_row, 0);
  }
}

}  // namespace
}  // namespace taskdag
