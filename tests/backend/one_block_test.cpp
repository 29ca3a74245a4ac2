// Factorisations of small matrices by one thread block: when they are taken, and what changes hands.
#include <algorithm>

#include "backends.hpp"
#include "base/index.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

TASKDAG_BACKEND_SUITE(OneBlockTest, test::device_arrays());

CsrMatrix grid(Index n) { return make_stencil({.stencil = Stencil::five_point, .nx = n, .ny = n}); }

FactorOptions up_to(Index rows, FactorKind kind = FactorKind::ilu) {
  FactorOptions options;
  options.kind = kind;
  options.one_block_rows = rows;
  return options;
}

TEST_P(OneBlockTest, IsTakenUpToItsNumberOfRows) {
  const CsrMatrix a = grid(30);
  EXPECT_EQ(factorization(a, up_to(900)).info().lower_schedule, SolveSchedule::one_block);
  EXPECT_EQ(factorization(a, up_to(900)).info().upper_schedule, SolveSchedule::one_block);
  EXPECT_EQ(factorization(a, up_to(900)).info().lower_levels, 59);
  EXPECT_NE(factorization(a, up_to(899)).info().lower_schedule, SolveSchedule::one_block);
  EXPECT_NE(factorization(a, {}).info().lower_schedule, SolveSchedule::one_block);
  FactorOptions named = up_to(900);
  named.schedule = SolveSchedule::flat;
  EXPECT_EQ(factorization(a, named).info().lower_schedule, SolveSchedule::flat);
  EXPECT_NE(factorization(test::arrow(900), up_to(900)).info().lower_schedule, SolveSchedule::flat);
}

TEST_P(OneBlockTest, ManyEntriesAreForMoreThanOneBlock) {
  CsrMatrix dense;
  dense.rows = dense.cols = 60;
  dense.row_offsets.clear();
  for (Index i = 0; i < 60; ++i) {
    dense.row_offsets.push_back(i * 60);
    for (Index j = 0; j < 60; ++j) {
      dense.col_indices.push_back(j);
      dense.values.push_back(i == j ? 100.0 : 1.0);
    }
  }
  dense.row_offsets.push_back(3600);
  EXPECT_NE(factorization(dense, up_to(60)).info().lower_schedule, SolveSchedule::one_block);
  EXPECT_EQ(factorization(dense, up_to(300)).info().lower_schedule, SolveSchedule::one_block);
}

TEST_P(OneBlockTest, AVectorThatDoesNotFitIntoSharedMemoryIsSolvedToo) {
  const CsrMatrix a = grid(200);
  for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
    Factorization f = factorization(a, up_to(40000, kind));
    ASSERT_EQ(f.info().lower_schedule, SolveSchedule::one_block);
    ASSERT_TRUE(factor(f, a.values).ok());
    const std::vector<double> b = test::right_hand_side(a.rows);
    EXPECT_LE(test::apply_error(f.copy_factor(), kind, false, b, apply(f, Apply::full, b)), 1.0);
  }
}

TEST_P(OneBlockTest, ALargeOneIsAppliedAfterASmallOneWasMade) {
  const CsrMatrix a = grid(130);
  Factorization large = factorization(a, up_to(20000));
  ASSERT_TRUE(factor(large, a.values).ok());
  static_cast<void>(factorization(grid(5), up_to(20000)));
  const std::vector<double> b = test::right_hand_side(a.rows);
  EXPECT_LE(test::apply_error(large.copy_factor(), FactorKind::ilu, false, b, apply(large, Apply::full, b)), 1.0);
}

TEST_P(OneBlockTest, SeveralColumnsAreThoseOfSingleOnes) {
  for (const Index n : {40, 180}) {  // in shared memory; not
    const CsrMatrix a = grid(n);
    Factorization f = factorization(a, up_to(40000));
    ASSERT_TRUE(factor(f, a.values).ok());
    constexpr Index kColumns = 19;
    std::vector<double> b;
    std::vector<double> expected;
    for (Index k = 0; k < kColumns; ++k) {
      std::vector<double> column = test::right_hand_side(a.rows);
      for (double& value : column) value *= 1.0 + k;
      const std::vector<double> x = apply(f, Apply::full, column);
      b.insert(b.end(), column.begin(), column.end());
      expected.insert(expected.end(), x.begin(), x.end());
    }
    auto in = place(b);
    auto out = place(std::vector<double>(b.size(), -7.0));
    f.apply_many(Apply::full, kColumns, in.data(), a.rows, out.data(), a.rows, space(), stream());
    EXPECT_TRUE(test::same_bits(out.read(), expected));
  }
}

TEST_P(OneBlockTest, TheThirdFactorOfManyRowsIsTheDevices) {
  const CsrMatrix a = grid(75);
  const std::vector<double> b = test::right_hand_side(a.rows);
  for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
    Factorization f = factorization(a, up_to(20000, kind));
    std::vector<double> values = a.values;
    for (int k = 0; k < 5; ++k) {
      SCOPED_TRACE("factor " + std::to_string(k));
      for (double& value : values) value *= 1.5;
      ASSERT_TRUE(factor(f, values).ok());
      EXPECT_EQ(f.info().lower_schedule == SolveSchedule::one_block, k < 2);
      const CsrMatrix computed = f.copy_factor();
      EXPECT_LE(test::apply_error(computed, kind, false, b, apply(f, Apply::full, b)), 1.0);
      EXPECT_LE(test::apply_error(computed, kind, true, b, apply(f, Apply::transposed, b)), 1.0);
      EXPECT_EQ(f.outcome(), SolveOutcome::success);
    }
  }
}

TEST_P(OneBlockTest, ABrokenPatternOnTheDeviceIsRefused) {
  CsrMatrix a = grid(10);
  std::swap(a.col_indices[0], a.col_indices[1]);
  EXPECT_THROW(static_cast<void>(factorization(a, up_to(100))), InvalidInput);
  EXPECT_THROW(static_cast<void>(factorization(grid(10), up_to(100), std::vector<Index>(100, 3))), InvalidInput);
}

}  // namespace
}  // namespace taskdag
