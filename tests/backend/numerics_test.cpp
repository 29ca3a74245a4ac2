// Zero pivots and values that are not finite: every call ends, and the status says what was met.
#include <bit>
#include <cmath>
#include <limits>

#include "backends.hpp"
#include "measure.hpp"
#include "problems.hpp"

namespace taskdag {
namespace {

TASKDAG_BACKEND_SUITE(NumericsTest, test::everywhere_and_one_block());

constexpr FactorKind kKinds[] = {FactorKind::ilu, FactorKind::ic};

/// A NaN with the bits by which the executors mark what is not there yet, a plain NaN, and both infinities.
const std::vector<double>& bad_values() {
  static const std::vector<double> values = {std::bit_cast<double>(std::uint64_t{0xFFF87A5CDA600001}), std::nan(""),
                                             std::numeric_limits<double>::infinity(),
                                             -std::numeric_limits<double>::infinity()};
  return values;
}

void expect_same(const FactorStatus& status, const FactorStatus& expected) {
  EXPECT_EQ(status.outcome, expected.outcome);
  EXPECT_EQ(status.first_row, expected.first_row);
  EXPECT_EQ(status.last_row, expected.last_row);
  EXPECT_EQ(status.last_pivot, expected.last_pivot);
  EXPECT_EQ(status.shifts, expected.shifts);
}

TEST_P(NumericsTest, FirstAndLastZeroPivotAreReportedWithTheLastValue) {
  CsrMatrix a = test::tridiagonal(500, 0, 2, 0);
  a.values[7] = 0.0;
  a.values[123] = -1e-20;
  a.values[499] = 3e-15;
  for (const FactorKind kind : kKinds) {
    Factorization f = factorization(a, {.kind = kind});
    const FactorStatus status = factor(f, a.values);
    EXPECT_EQ(status.outcome, FactorOutcome::zero_pivot);
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(status.first_row, 7);
    EXPECT_EQ(status.last_row, 499);
    EXPECT_DOUBLE_EQ(status.last_pivot, 3e-15);
    // The next values decide anew.
    EXPECT_TRUE(factor(f, std::vector<double>(500, 2.0)).ok());
    Factorization tolerant = factorization(a, {.kind = kind, .zero_pivot = 1e-19});
    EXPECT_EQ(factor(tolerant, a.values).last_row, 123);
    EXPECT_EQ(factor(tolerant, a.values).last_pivot, 1e-20);
    Factorization strict = factorization(a, {.kind = kind, .zero_pivot = 0.0});
    EXPECT_EQ(factor(strict, a.values).last_row, 7);
  }
}

TEST_P(NumericsTest, PivotThatEliminationMakesZeroIsFound) {
  const CsrMatrix a{3, 3, {0, 2, 5, 7}, {0, 1, 0, 1, 2, 1, 2}, {2, 4, 4, 8, 1, 1, 3}};
  for (const FactorKind kind : kKinds) {  // ic0 reads 8 − 4²/2 = 0 as well
    Factorization f = factorization(a, {.kind = kind});
    const FactorStatus status = factor(f, a.values);
    EXPECT_EQ(status.outcome, FactorOutcome::zero_pivot);
    EXPECT_EQ(status.first_row, 1);
    EXPECT_EQ(status.last_row, 1);
    EXPECT_EQ(status.last_pivot, 0.0);
  }
}

TEST_P(NumericsTest, APivotAsLargeAsTheBoundIsZero) {
  for (const double bound : {0.0, 0.25}) {
    CsrMatrix a = test::tridiagonal(9, 0, 2, 0);
    a.values[4] = bound;
    for (const FactorKind kind : kKinds) {
      Factorization f = factorization(a, {.kind = kind, .zero_pivot = bound});
      const FactorStatus status = factor(f, a.values);
      EXPECT_EQ(status.outcome, FactorOutcome::zero_pivot);
      EXPECT_EQ(status.last_row, 4);
      EXPECT_EQ(status.last_pivot, bound);
    }
  }
}

TEST_P(NumericsTest, SolvesAfterAZeroPivotHandOnWhatIsNotFinite) {
  CsrMatrix a = test::tridiagonal(40, -1, 4, -1);
  a.values[0] = 0.0;
  for (const FactorKind kind : kKinds) {
    Factorization f = factorization(a, {.kind = kind});
    EXPECT_EQ(factor(f, a.values).outcome, FactorOutcome::zero_pivot);
    EXPECT_FALSE(test::all_finite(apply(f, Apply::full, test::right_hand_side(40))));
    EXPECT_EQ(f.outcome(), SolveOutcome::non_finite);
    EXPECT_EQ(f.outcome(), SolveOutcome::success);
  }
}

TEST_P(NumericsTest, ZeroDiagonalOfATriangleGivesInfinities) {
  CsrMatrix a = test::tridiagonal(40, -1, 4, 0);
  TriangularSolver solver = triangular(a, {});
  const std::vector<double> b = test::right_hand_side(40);
  a.values[2] = 0.0;  // the diagonal of row 1
  test::Array<double> values = place(a.values);
  solver.update_values(values.data(), space(), stream());
  const std::vector<double> x = solve(solver, b);
  EXPECT_EQ(x[0], 0.25);
  EXPECT_TRUE(std::isinf(x[1]));
  EXPECT_EQ(solver.outcome(), SolveOutcome::non_finite);
}

TEST_P(NumericsTest, BadRightHandSidesEndUpInTheSolution) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 40, .ny = 40});
  Factorization f = factorization(a, {});
  ASSERT_TRUE(factor(f, a.values).ok());
  TriangularSolver t = triangular(a, {});
  const std::vector<double> good = test::right_hand_side(a.rows);
  const std::vector<double> expected = solve(t, good);
  for (const double bad : bad_values()) {
    for (const std::size_t row : {std::size_t{0}, std::size_t{7}, std::size_t{1599}}) {
      std::vector<double> b = good;
      b[row] = bad;
      const std::vector<double> x = solve(t, b);
      EXPECT_FALSE(std::isfinite(x[row]));
      for (std::size_t i = 0; i < row; ++i) ASSERT_EQ(x[i], expected[i]);  // rows before it do not read it
      EXPECT_EQ(t.outcome(), SolveOutcome::non_finite);
      EXPECT_EQ(t.outcome(), SolveOutcome::success);
      EXPECT_FALSE(test::all_finite(apply(f, Apply::full, b)));
      EXPECT_EQ(f.outcome(), SolveOutcome::non_finite);
      EXPECT_FALSE(test::all_finite(apply(f, Apply::transposed, b)));
      EXPECT_EQ(f.outcome(), SolveOutcome::non_finite);
      EXPECT_TRUE(test::all_finite(apply(f, Apply::full, good)));
      EXPECT_EQ(f.outcome(), SolveOutcome::success);
    }
  }
}

TEST_P(NumericsTest, BadMatrixValuesAreReportedLikeTheReferenceDoes) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 30, .ny = 20});
  for (const FactorKind kind : kKinds) {
    for (const double bad : bad_values()) {
      for (const Index row : {0, 31, 599}) {
        for (const bool diagonal : {false, true}) {
          SCOPED_TRACE(std::to_string(bad) + " in row " + std::to_string(row) + (diagonal ? ", diagonal" : ""));
          CsrMatrix broken = a;
          auto e = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row)]);
          while (a.col_indices[e] != row) ++e;
          if (!diagonal && row < 599) ++e;  // an entry of the upper triangle: both kinds read it
          broken.values[e] = bad;
          FactorStatus expected;
          static_cast<void>(test::reference_factor(broken, {.kind = kind}, 0.0, expected));
          EXPECT_EQ(expected.outcome, FactorOutcome::non_finite);
          EXPECT_EQ(expected.first_row, row);
          Factorization f = factorization(a, {.kind = kind});
          expect_same(factor(f, broken.values), expected);
        }
      }
    }
  }
}

TEST_P(NumericsTest, TheFirstOfAZeroPivotAndABadValueDecides) {
  for (const FactorKind kind : kKinds) {
    CsrMatrix a = test::tridiagonal(100, 0, 2, 0);
    Factorization f = factorization(a, {.kind = kind});
    a.values[10] = 0.0;
    a.values[20] = std::nan("");
    FactorStatus status = factor(f, a.values);
    EXPECT_EQ(status.outcome, FactorOutcome::zero_pivot);
    EXPECT_EQ(status.first_row, 10);
    EXPECT_EQ(status.last_row, 10);
    a.values[5] = std::numeric_limits<double>::infinity();
    status = factor(f, a.values);
    EXPECT_EQ(status.outcome, FactorOutcome::non_finite);
    EXPECT_EQ(status.first_row, 5);
    EXPECT_EQ(status.last_row, 10);
    EXPECT_EQ(status.last_pivot, 0.0);
    // Both in one row: the row's other entry is bad, its pivot is zero.
    CsrMatrix both = test::tridiagonal(3, 0, 2, 1);
    both.values[0] = 0.0;
    both.values[1] = std::numeric_limits<double>::infinity();
    Factorization small = factorization(both, {.kind = kind});
    status = factor(small, both.values);
    EXPECT_EQ(status.outcome, FactorOutcome::zero_pivot);
    EXPECT_EQ(status.first_row, 0);
  }
}

}  // namespace
}  // namespace taskdag
