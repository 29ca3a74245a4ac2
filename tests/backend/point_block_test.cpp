// Factorisations by point blocks on both backends, against a serial reference that is written apart, and against the
// scalar form, whose preconditioner is the same.
#include "reference/point_block.hpp"

#include <cmath>
#include <limits>

#include "backends.hpp"
#include "measure.hpp"
#include "point_blocks.hpp"
#include "problems.hpp"
#include "support/effort.hpp"

namespace taskdag {
namespace {

using kernels::point_block::reference_apply;
using kernels::point_block::reference_factor;

TASKDAG_BACKEND_SUITE(PointBlockTest, test::everywhere());

constexpr FactorKind kKinds[] = {FactorKind::ilu, FactorKind::ic};
constexpr Index kSizes[] = {2, 3, 4, 5, 6, 7, 8, 9, 12, 16};

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// Blocks of `a` for the entries of a graph whose values say which: block number + 1, 0 for fill.
CsrMatrix taken_from(const CsrMatrix& numbered, const CsrMatrix& a, Index n) {
  CsrMatrix result = numbered;
  result.values.assign(numbered.values.size() * at(n) * at(n), 0.0);
  for (std::size_t e = 0; e < numbered.values.size(); ++e) {
    const auto number = static_cast<std::ptrdiff_t>(numbered.values[e]);
    const auto size = static_cast<std::ptrdiff_t>(at(n) * at(n));
    if (number == 0) continue;
    std::copy_n(a.values.begin() + (number - 1) * size, size,
                result.values.begin() + static_cast<std::ptrdiff_t>(e) * size);
  }
  return result;
}

CsrMatrix numbered(const CsrMatrix& graph) {
  CsrMatrix result = graph;
  for (std::size_t e = 0; e < result.values.size(); ++e) result.values[e] = static_cast<double>(e + 1);
  return result;
}

std::string text(const test::Graph& graph, FactorKind kind, Index n, Index levels) {
  return graph.name + (kind == FactorKind::ic ? ", ic(" : ", ilu(") + std::to_string(levels) + "), blocks of " +
         std::to_string(n);
}

FactorOptions options_of(FactorKind kind, Index n, Index levels = 0) {
  FactorOptions options;
  options.kind = kind;
  options.block_size = n;
  options.levels = levels;
  return options;
}

TEST_P(PointBlockTest, FactorsAndApplicationsMatchTheReference) {
  for (const test::Graph& graph : test::graphs()) {
    for (const FactorKind kind : kKinds) {
      for (const Index n : kSizes) {
        for (const Index levels : {0, 1}) {
          if (test::kSanitized && levels != (kind == FactorKind::ic ? n % 2 : 1 - n % 2)) continue;
          SCOPED_TRACE(text(graph, kind, n, levels));
          const bool symmetric = kind == FactorKind::ic;
          const CsrMatrix a = test::with_blocks(graph.a, n, symmetric);
          const CsrMatrix filled = test::with_fill(numbered(graph.a), {.kind = kind, .levels = levels});
          const CsrMatrix expected = reference_factor(taken_from(filled, a, n).view(), kind, n);
          Factorization f = factorization(a, options_of(kind, n, levels));
          const FactorStatus status = factor(f, a.values);
          EXPECT_TRUE(status.ok());
          EXPECT_EQ(status.first_row, -1);
          EXPECT_EQ(status.shifts, 0);
          EXPECT_EQ(f.info().rows, a.rows * n);
          EXPECT_EQ(f.info().block_size, n);
          const CsrMatrix computed = f.copy_factor();
          EXPECT_EQ(f.info().entries, computed.entries());
          EXPECT_LE(test::factor_difference(computed, expected), 1e-11);
          const std::vector<double> b = test::right_hand_side(a.rows * n);
          for (const bool transposed : {false, true}) {
            const Apply part = transposed ? Apply::transposed : Apply::full;
            const std::vector<double> x = apply(f, part, b);
            EXPECT_LE(test::difference(x, reference_apply(expected, n, transposed, b)), 1e-10);
            EXPECT_TRUE(test::same_bits(apply_in_place(f, part, b), x));
            EXPECT_TRUE(test::same_bits(apply(f, part, b), x));
          }
          EXPECT_EQ(f.outcome(), SolveOutcome::success);
        }
      }
    }
  }
}

// L of the scalar form times the lower triangular factors of the diagonal blocks is L of the blocks.
TEST_P(PointBlockTest, ThePreconditionerIsThatOfTheScalarForm) {
  for (const test::Graph& graph : test::graphs()) {
    for (const FactorKind kind : kKinds) {
      for (const Index levels : {0, 2}) {
        constexpr Index kRows = 4;
        SCOPED_TRACE(text(graph, kind, kRows, levels));
        CsrMatrix a = test::with_blocks(graph.a, kRows, true);
        Factorization blocks = factorization(a, options_of(kind, kRows, levels));
        ASSERT_TRUE(factor(blocks, a.values).ok());
        const CsrMatrix rows = test::by_rows(a, kRows);
        Factorization scalar = factorization(rows, options_of(kind, 1, levels));
        ASSERT_TRUE(factor(scalar, rows.values).ok());
        const std::vector<double> b = test::right_hand_side(rows.rows);
        EXPECT_LE(test::difference(apply(blocks, Apply::full, b), apply(scalar, Apply::full, b)), 1e-10);
        const auto growth = [this](Factorization& f, const std::vector<double>& values) {
          test::Array<double> placed = place(values);
          return f.growth(placed.data(), space(), stream());
        };
        const double expected = growth(scalar, rows.values);
        EXPECT_NEAR(growth(blocks, a.values), expected, 1e-9 * expected);
      }
    }
  }
}

TEST_P(PointBlockTest, OrdersAreThoseOfBlocks) {
  const CsrMatrix graph = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 4, .ny = 3, .nz = 3});
  std::vector<Index> order(at(graph.rows));
  for (Index i = 0; i < graph.rows; ++i) order[at(i)] = (i * 5 + 3) % graph.rows;  // 36 rows
  for (const FactorKind kind : kKinds) {
    for (const Index n : test::kSanitized ? std::vector<Index>{3, 10, 17} : std::vector<Index>{3, 5, 10, 17, 32}) {
      SCOPED_TRACE(text({"27 point", {}}, kind, n, 1));
      const CsrMatrix a = test::with_blocks(graph, n, kind == FactorKind::ic);
      const CsrMatrix moved = test::permuted(numbered(graph), order, order);
      const CsrMatrix filled = test::with_fill(moved, {.kind = kind, .levels = 1});
      const CsrMatrix expected = reference_factor(taken_from(filled, a, n).view(), kind, n);
      Factorization f = factorization(a, options_of(kind, n, 1), order, order);
      ASSERT_TRUE(factor(f, a.values).ok());
      EXPECT_LE(test::factor_difference(f.copy_factor(), expected), 1e-11);
      const std::vector<double> b = test::right_hand_side(a.rows * n);
      for (const bool transposed : {false, true}) {
        std::vector<double> moved_b(b.size());
        std::vector<double> x(b.size());
        const auto row = [&](std::size_t i) { return at(order[i / at(n)]) * at(n) + i % at(n); };
        for (std::size_t i = 0; i < b.size(); ++i) moved_b[i] = b[row(i)];
        const std::vector<double> moved_x = reference_apply(expected, n, transposed, moved_b);
        for (std::size_t i = 0; i < b.size(); ++i) x[row(i)] = moved_x[i];
        EXPECT_LE(test::difference(apply(f, transposed ? Apply::transposed : Apply::full, b), x), 1e-10);
      }
    }
  }
}

TEST_P(PointBlockTest, RowsAndColumnsMayHaveTwoOrders) {
  constexpr Index kRows = 3;
  const CsrMatrix graph = test::tridiagonal(6, 1.0, 4.0, 1.0);
  // Rows 2 and 3 change places: the diagonal of the factored matrix is beside that of the matrix.
  const std::vector<Index> row_order = {0, 1, 3, 2, 4, 5};
  const std::vector<Index> col_order = {0, 1, 2, 3, 4, 5};
  CsrMatrix a = test::with_blocks(graph, kRows, false);
  const CsrMatrix expected = reference_factor(
      taken_from(test::permuted(numbered(graph), row_order, col_order), a, kRows).view(), FactorKind::ilu, kRows);
  Factorization f = factorization(a, options_of(FactorKind::ilu, kRows), row_order, col_order);
  ASSERT_TRUE(factor(f, a.values).ok());
  std::vector<double> b = test::right_hand_side(a.rows * kRows);
  std::vector<double> moved_b(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) moved_b[i] = b[at(row_order[i / at(kRows)]) * at(kRows) + i % at(kRows)];
  EXPECT_LE(test::difference(apply(f, Apply::full, b), reference_apply(expected, kRows, false, moved_b)), 1e-9);
  std::vector<double> x(b.size());
  const std::vector<double> moved_x = reference_apply(expected, kRows, true, b);
  for (std::size_t i = 0; i < b.size(); ++i) x[at(row_order[i / at(kRows)]) * at(kRows) + i % at(kRows)] = moved_x[i];
  EXPECT_LE(test::difference(apply(f, Apply::transposed, b), x), 1e-9);
}

TEST_P(PointBlockTest, IcDoesNotLookBelowTheDiagonalBlocks) {
  constexpr Index kRows = 3;
  const CsrMatrix graph = make_stencil({.stencil = Stencil::five_point, .nx = 9, .ny = 8});
  CsrMatrix a = test::with_blocks(graph, kRows, true);
  Factorization f = factorization(a, options_of(FactorKind::ic, kRows));
  ASSERT_TRUE(factor(f, a.values).ok());
  const CsrMatrix expected = f.copy_factor();
  for (Index i = 0; i < graph.rows; ++i) {
    for (Offset e = graph.row_offsets[at(i)]; graph.col_indices[at(e)] < i; ++e) {
      for (std::size_t k = 0; k < at(kRows * kRows); ++k) a.values[at(e) * at(kRows * kRows) + k] = std::nan("");
    }
  }
  EXPECT_TRUE(factor(f, a.values).ok());
  EXPECT_TRUE(test::same_bits(f.copy_factor().values, expected.values));
}

TEST_P(PointBlockTest, NewValuesEqualAFreshFactorisation) {
  for (const FactorKind kind : kKinds) {
    constexpr Index kRows = 5;
    const CsrMatrix graph = make_stencil({.stencil = Stencil::five_point, .nx = 12, .ny = 9});
    const CsrMatrix a = test::with_blocks(graph, kRows, kind == FactorKind::ic);
    CsrMatrix other = a;
    for (double& value : other.values) value *= 1.5;
    const std::vector<double> b = test::right_hand_side(a.rows * kRows);
    Factorization used = factorization(a, options_of(kind, kRows));
    ASSERT_TRUE(factor(used, a.values).ok());
    for (const Apply part : {Apply::full, Apply::transposed}) static_cast<void>(apply(used, part, b));
    ASSERT_TRUE(factor(used, other.values).ok());
    Factorization fresh = factorization(a, options_of(kind, kRows));
    ASSERT_TRUE(factor(fresh, other.values).ok());
    EXPECT_TRUE(test::same_bits(used.copy_factor().values, fresh.copy_factor().values));
    for (const Apply part : {Apply::full, Apply::transposed}) {
      EXPECT_TRUE(test::same_bits(apply(used, part, b), apply(fresh, part, b)));
    }
  }
}

TEST_P(PointBlockTest, ManyVectorsEqualOneByOne) {
  constexpr Index kRows = 3;
  const CsrMatrix graph = make_stencil({.stencil = Stencil::five_point, .nx = 10, .ny = 10});
  const CsrMatrix a = test::with_blocks(graph, kRows, false);
  constexpr std::ptrdiff_t kLdb = 303;
  constexpr std::ptrdiff_t kLdx = 311;
  Factorization f = factorization(a, options_of(FactorKind::ilu, kRows));
  ASSERT_TRUE(factor(f, a.values).ok());
  const std::vector<double> b = test::right_hand_side(3 * kLdb);
  for (const Apply part : {Apply::full, Apply::transposed}) {
    test::Array<double> in = place(b);
    test::Array<double> out = place(std::vector<double>(3 * kLdx));
    f.apply_many(part, 3, in.data(), kLdb, out.data(), kLdx, space(), stream());
    const std::vector<double> x = out.read();
    for (std::ptrdiff_t k = 0; k < 3; ++k) {
      const std::vector<double> one = apply(f, part, {b.begin() + k * kLdb, b.begin() + k * kLdb + 300});
      EXPECT_TRUE(test::same_bits(one, {x.begin() + k * kLdx, x.begin() + k * kLdx + 300}));
    }
  }
}

/// Blocks of n rows without coupling; in the third and the sixth one row and column `zero` are 0.
CsrMatrix without_pivot(Index n, Index zero) {
  CsrMatrix a = test::with_blocks(test::tridiagonal(7, 0.0, 1.0, 0.0), n, true);
  for (const Index block : {2, 5}) {
    for (Index k = 0; k < n; ++k) {
      a.values[at(block) * at(n * n) + at(zero * n + k)] = 0.0;
      a.values[at(block) * at(n * n) + at(k * n + zero)] = 0.0;
    }
  }
  return a;
}

FactorOptions shifting_options(FactorKind kind, Index n, double amount) {
  FactorOptions options = options_of(kind, n);
  options.shift = ShiftType::inblocks;
  options.shift_amount = amount;
  return options;
}

TEST_P(PointBlockTest, ABlockWithoutPivotIsReportedOrShifted) {
  for (const FactorKind kind : kKinds) {
    for (const Index n : {2, 3, 5, 9}) {
      SCOPED_TRACE(text({"chain", {}}, kind, n, 0));
      CsrMatrix a = without_pivot(n, n - 1);
      Factorization f = factorization(a, options_of(kind, n));
      const FactorStatus status = factor(f, a.values);
      EXPECT_EQ(status.outcome, FactorOutcome::zero_pivot);
      EXPECT_EQ(status.first_row, 2 * n + n - 1);
      EXPECT_EQ(status.last_row, 5 * n + n - 1);
      EXPECT_EQ(status.last_pivot, 0.0);
      const std::vector<double> b = test::right_hand_side(a.rows * n);
      EXPECT_FALSE(test::all_finite(apply(f, Apply::full, b)));
      EXPECT_EQ(f.outcome(), SolveOutcome::non_finite);

      a = without_pivot(n, 0);
      Factorization shifted = factorization(a, shifting_options(kind, n, 1e-3));
      const FactorStatus with_shift = factor(shifted, a.values);
      EXPECT_TRUE(with_shift.ok());
      EXPECT_EQ(with_shift.shifts, 2);
      double mean = 1e-12;
      for (Index k = 1; k < n; ++k) mean += std::abs(a.values[at(2) * at(n * n) + at(k * n + k)]);
      const CsrMatrix computed = shifted.copy_factor();
      const double inverse = computed.values[at(computed.row_offsets[at(2 * n)])];
      EXPECT_NEAR(inverse * (1e-3 * mean / n), 1.0, 1e-12);
      EXPECT_TRUE(test::all_finite(apply(shifted, Apply::full, b)));
    }
  }
}

// As PETSc's: 1e-14 times nothing would be a pivot, and its inverse an answer that counts as converged.
TEST_P(PointBlockTest, TheLastPivotOfABlockIsNeverShifted) {
  for (const FactorKind kind : kKinds) {
    for (const Index n : {2, 3, 5, 9}) {
      for (const double amount : {FactorOptions{}.shift_amount, 1e-3}) {
        SCOPED_TRACE(text({"chain", {}}, kind, n, 0));
        CsrMatrix a = without_pivot(n, n - 1);
        std::fill_n(a.values.begin() + std::ptrdiff_t{5} * n * n, n * n, 0.0);
        Factorization f = factorization(a, shifting_options(kind, n, amount));
        const FactorStatus status = factor(f, a.values);
        EXPECT_EQ(status.outcome, FactorOutcome::zero_pivot);
        EXPECT_EQ(status.first_row, 2 * n + n - 1);
        EXPECT_EQ(status.last_row, 5 * n + n - 1);
        EXPECT_FALSE(test::all_finite(apply(f, Apply::full, test::right_hand_side(a.rows * n))));
      }
    }
  }
}

TEST_P(PointBlockTest, NaNsAndInfinitiesAreHandedOn) {
  for (const FactorKind kind : kKinds) {
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      constexpr Index kRows = 3;
      const CsrMatrix graph = make_stencil({.stencil = Stencil::five_point, .nx = 6, .ny = 5});
      CsrMatrix a = test::with_blocks(graph, kRows, true);
      const std::size_t e = at(graph.row_offsets[8]) + 2;  // the diagonal
      a.values[e * kRows * kRows + 4] = bad;
      Factorization f = factorization(a, options_of(kind, kRows));
      const FactorStatus status = factor(f, a.values);
      EXPECT_EQ(status.outcome, FactorOutcome::non_finite);
      EXPECT_EQ(status.first_row, 8 * kRows);
      const std::vector<double> b = test::right_hand_side(a.rows * kRows);
      // The inverse of an infinite pivot is 0.
      EXPECT_EQ(test::all_finite(apply(f, Apply::full, b)), std::isinf(bad));
      EXPECT_EQ(test::all_finite(apply(f, Apply::transposed, b)), std::isinf(bad));
      EXPECT_EQ(f.outcome() == SolveOutcome::success, std::isinf(bad));
      EXPECT_EQ(f.outcome(), SolveOutcome::success);  // since the last call

      CsrMatrix good = test::with_blocks(graph, kRows, true);
      ASSERT_TRUE(factor(f, good.values).ok());
      std::vector<double> bad_b = b;
      bad_b[31] = bad;
      EXPECT_FALSE(test::all_finite(apply(f, Apply::full, bad_b)));
      EXPECT_EQ(f.outcome(), SolveOutcome::non_finite);
      EXPECT_TRUE(test::all_finite(apply(f, Apply::full, b)));
      EXPECT_EQ(f.outcome(), SolveOutcome::success);
    }
  }
}

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_P(PointBlockTest, WhatThereIsNotIsRefused) {
  const CsrMatrix graph = test::tridiagonal(5, 1.0, 4.0, 1.0);
  const CsrMatrix a = test::with_blocks(graph, 3, false);
  const auto make = [&](const auto& change) {
    FactorOptions options = options_of(FactorKind::ilu, 3);
    change(options);
    return message_of([&] { factorization(a, options); });
  };
  const auto has = [](const std::string& message, const char* part) { return message.find(part) != std::string::npos; };
  EXPECT_TRUE(has(make([](FactorOptions& o) { o.block_size = 0; }), "point blocks have 1 to 32 rows, not 0"));
  EXPECT_TRUE(has(make([](FactorOptions& o) { o.block_size = 33; }), "not 33"));
  for (const ShiftType shift : {ShiftType::nonzero, ShiftType::positive_definite}) {
    EXPECT_TRUE(has(make([&](FactorOptions& o) { o.shift = shift; }), "shifts none and inblocks"));
  }
  EXPECT_TRUE(has(make([](FactorOptions& o) { o.diagonal_only = true; }), "diagonal alone"));
  EXPECT_TRUE(has(make([](FactorOptions& o) { o.factor_schedule = FactorSchedule::engine; }), "one schedule"));
  EXPECT_TRUE(has(make([](FactorOptions& o) { o.tune = true; }), "one schedule"));
  EXPECT_TRUE(has(make([](FactorOptions& o) { o.precision = Precision::in_single; }), "in double alone"));
  EXPECT_EQ(make([](FactorOptions&) {}), "");

  Factorization f = factorization(a, options_of(FactorKind::ic, 3));
  ASSERT_TRUE(factor(f, a.values).ok());
  std::vector<double> b(15, 1.0);
  EXPECT_TRUE(has(message_of([&] { apply(f, Apply::symmetric_left, b); }), "no symmetric parts"));
  test::Array<double> in = place(b);
  test::Array<double> out = place(b);
  EXPECT_TRUE(has(message_of([&] { f.solve_lower(in.data(), out.data(), space(), stream()); }), "no halves"));

  CsrMatrix without = test::tridiagonal(5, 1.0, 0.0, 1.0);
  without.values.resize(without.values.size() * 9);
  EXPECT_TRUE(
      has(message_of([&] { factorization(without, options_of(FactorKind::ilu, 3)); }), "row 0 has no diagonal entry"));
}

TEST_P(PointBlockTest, AMatrixWithoutRowsIsTaken) {
  CsrMatrix a;
  Factorization f = factorization(a, options_of(FactorKind::ilu, 3));
  EXPECT_TRUE(factor(f, a.values).ok());
  EXPECT_TRUE(apply(f, Apply::full, {}).empty());
}

// Results do not depend on the number of threads.
TEST(PointBlockThreads, GiveTheSameBits) {
  constexpr Index kRows = 3;
  const CsrMatrix a = test::with_blocks(
      make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 14, .ny = 14, .nz = 14}), kRows, true);
  const std::vector<double> b = test::right_hand_side(a.rows * kRows);
  for (const FactorKind kind : kKinds) {
    std::vector<double> first[2];
    for (const int threads : {1, 2, 3, 8}) {
      const Context context = Context::create({.backend = Backend::host, .threads = threads});
      Factorization f(context, a.pattern(), MemorySpace::host, options_of(kind, kRows));
      ASSERT_TRUE(f.factor(a.values.data(), MemorySpace::host).ok());
      for (const Apply part : {Apply::full, Apply::transposed}) {
        std::vector<double> x(b.size());
        f.apply(part, b.data(), x.data(), MemorySpace::host);
        std::vector<double>& expected = first[part == Apply::full ? 0 : 1];
        if (threads == 1) expected = x;
        EXPECT_TRUE(test::same_bits(x, expected)) << threads;
      }
    }
  }
}

}  // namespace
}  // namespace taskdag
