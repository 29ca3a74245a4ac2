// The shift relative to the diagonal: whatever the scaling of a matrix, its factor is that of the matrix with unit
// diagonal, scaled back.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "backends.hpp"
#include "base/index.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "taskdag/error.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

TASKDAG_BACKEND_SUITE(ScaledShiftTest, test::everywhere_and_one_block());

const FactorOptions kScaled{.kind = FactorKind::ic, .shift = ShiftType::scaled};

/// Blocks of Kershaw's matrix, which is positive definite and whose IC(0) meets a negative pivot, weakly coupled.
CsrMatrix kershaw(Index blocks) {
  CsrMatrix a{4 * blocks, 4 * blocks, {0}, {}, {}};
  constexpr double kBlock[4][4] = {{3, -2, 0, 2}, {-2, 3, -2, 0}, {0, -2, 3, -2}, {2, 0, -2, 3}};
  for (Index i = 0; i < a.rows; ++i) {
    const auto put = [&](Index column, double value) {
      a.col_indices.push_back(column);
      a.values.push_back(value);
    };
    if (i >= 4) put(i - 4, 0.01);
    for (Index j = 0; j < 4; ++j) {
      if (kBlock[i % 4][j] != 0) put(i / 4 * 4 + j, kBlock[i % 4][j]);
    }
    if (i + 4 < a.rows) put(i + 4, 0.01);
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  return a;
}

double scale_of(Index i) { return std::ldexp(1.0, (i * 37) % 61 - 30); }

/// S A S with powers of two in S: what is computed with it has the same bits, but for exponents.
CsrMatrix badly_scaled(CsrMatrix a) {
  for (Index i = 0; i < a.rows; ++i) {
    for (auto e = at(a.row_offsets[at(i)]); e < at(a.row_offsets[at(i) + 1]); ++e) {
      a.values[e] *= scale_of(i) * scale_of(a.col_indices[e]);
    }
  }
  return a;
}

/// A with amount · a_ii added to its diagonal.
CsrMatrix with_shift(CsrMatrix a, double amount) {
  for (Index i = 0; i < a.rows; ++i) {
    for (auto e = at(a.row_offsets[at(i)]); e < at(a.row_offsets[at(i) + 1]); ++e) {
      if (a.col_indices[e] == i) a.values[e] += amount * a.values[e];
    }
  }
  return a;
}

std::vector<test::Problem> problems() {
  std::vector<test::Problem> result;
  result.push_back({"Kershaw", kershaw(40)});
  // Rows with updates of every kind on CUDA: too strong couplings for IC(0).
  CsrMatrix cube = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 7, .ny = 6, .nz = 5});
  for (std::size_t e = 0; e < cube.values.size(); ++e) cube.values[e] = cube.values[e] > 0 ? 1.0 : 0.35;
  result.push_back({"27-point", std::move(cube)});
  CsrMatrix grid = make_stencil({.stencil = Stencil::five_point, .nx = 20, .ny = 20});
  for (double& value : grid.values) value = value > 0 ? 1.0 : -0.55;
  result.push_back({"5-point", std::move(grid)});
  result.push_back({"weak diagonal", test::tridiagonal(60, -1, 1.2, -1)});
  CsrMatrix arrow = test::arrow(300);
  for (Index i = 0; i < arrow.rows; ++i) {
    for (auto e = at(arrow.row_offsets[at(i)]); e < at(arrow.row_offsets[at(i) + 1]); ++e) {
      arrow.values[e] = arrow.col_indices[e] == i ? 1.0 : 0.5;
    }
  }
  result.push_back({"arrow", std::move(arrow)});
  return result;
}

TEST_P(ScaledShiftTest, FactorIsThatOfTheMatrixWithUnitDiagonal) {
  for (const test::Problem& problem : problems()) {
    for (const Index levels : {0, 1}) {
      SCOPED_TRACE(problem.name + ", levels " + std::to_string(levels));
      FactorOptions options = kScaled;
      options.levels = levels;
      const CsrMatrix scaled = badly_scaled(problem.a);
      Factorization plain = factorization(problem.a, options);
      Factorization bad = factorization(scaled, options);
      const FactorStatus expected = factor(plain, problem.a.values);
      const FactorStatus status = factor(bad, scaled.values);
      EXPECT_TRUE(status.ok());
      EXPECT_EQ(status.first_row, -1);
      EXPECT_EQ(status.shifts, expected.shifts);
      EXPECT_EQ(status.shift_amount, expected.shift_amount);
      if (levels == 0) {
        EXPECT_GE(status.shifts, 1);
      }
      CsrMatrix back = bad.copy_factor();
      for (Index i = 0; i < back.rows; ++i) {
        for (auto e = at(back.row_offsets[at(i)]); e < at(back.row_offsets[at(i) + 1]); ++e) {
          const Index j = back.col_indices[e];
          back.values[e] *= i == j ? 1 / (scale_of(i) * scale_of(i)) : scale_of(i) / scale_of(j);
        }
      }
      EXPECT_TRUE(test::same_bits(back.values, plain.copy_factor().values));
      const CsrMatrix filled = test::with_fill(with_shift(scaled, status.shift_amount), options);
      EXPECT_LE(test::factor_error(filled, bad.copy_factor(), FactorKind::ic), 1.0);
    }
  }
}

TEST_P(ScaledShiftTest, PivotsKeepTheirPartAndASmallerShiftWouldNotDo) {
  for (const test::Problem& problem : problems()) {
    SCOPED_TRACE(problem.name);
    const CsrMatrix a = badly_scaled(problem.a);
    Factorization f = factorization(a, kScaled);
    const FactorStatus status = factor(f, a.values);
    ASSERT_TRUE(status.ok());
    const auto least_part = [](const CsrMatrix& shifted) {
      FactorStatus unused;
      const CsrMatrix reference = test::reference_factor(shifted, {.kind = FactorKind::ic}, 0.0, unused);
      double least = std::numeric_limits<double>::infinity();
      for (Index i = 0; i < shifted.rows; ++i) {
        for (auto e = at(shifted.row_offsets[at(i)]); e < at(shifted.row_offsets[at(i) + 1]); ++e) {
          if (shifted.col_indices[e] != i) continue;
          least = std::min(least, reference.values[at(reference.row_offsets[at(i)])] / shifted.values[e]);
        }
      }
      return least;
    };
    EXPECT_GT(least_part(with_shift(a, status.shift_amount)), 1e-6);
    EXPECT_LE(least_part(with_shift(a, 0.5 * status.shift_amount)), 1e-6);
  }
}

TEST_P(ScaledShiftTest, OrderingsMoveRowsAndNothingElse) {
  const CsrMatrix a = badly_scaled(kershaw(25));
  std::vector<Index> order(at(a.rows));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::reverse(order);
  const CsrMatrix moved = test::permuted(a, order, order);
  Factorization f = factorization(a, kScaled, order, order);
  Factorization expected = factorization(moved, kScaled);
  const FactorStatus status = factor(f, a.values);
  EXPECT_TRUE(status.ok());
  EXPECT_GE(status.shifts, 1);
  EXPECT_EQ(status.shift_amount, factor(expected, moved.values).shift_amount);
  EXPECT_TRUE(test::same_bits(f.copy_factor().values, expected.copy_factor().values));
}

TEST_P(ScaledShiftTest, GoodMatricesAreNotShifted) {
  const CsrMatrix a = badly_scaled(make_stencil({.stencil = Stencil::seven_point, .nx = 6, .ny = 5, .nz = 4}));
  Factorization f = factorization(a, kScaled);
  Factorization plain = factorization(a, {.kind = FactorKind::ic, .zero_pivot = 0.0});
  const FactorStatus status = factor(f, a.values);
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.shifts, 0);
  EXPECT_EQ(status.shift_amount, 0.0);
  EXPECT_TRUE(factor(plain, a.values).ok());
  EXPECT_TRUE(test::same_bits(f.copy_factor().values, plain.copy_factor().values));
  // A pivot may be asked to keep more.
  FactorOptions strict = kScaled;
  strict.zero_pivot = 0.95;
  Factorization shifted = factorization(a, strict);
  EXPECT_GE(factor(shifted, a.values).shifts, 1);
}

TEST_P(ScaledShiftTest, NegativeDefiniteIsTheSameWithItsSignsTurned) {
  const CsrMatrix a = badly_scaled(kershaw(10));
  CsrMatrix negative = a;
  for (double& value : negative.values) value = -value;
  Factorization f = factorization(a, kScaled);
  Factorization g = factorization(negative, kScaled);
  const FactorStatus status = factor(g, negative.values);
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.shift_amount, factor(f, a.values).shift_amount);
  EXPECT_GT(status.shift_amount, 0.0);
  CsrMatrix turned = g.copy_factor();
  for (Index i = 0; i < a.rows; ++i) turned.values[at(turned.row_offsets[at(i)])] *= -1;
  EXPECT_TRUE(test::same_bits(turned.values, f.copy_factor().values));
}

/// Row `row`'s diagonal entry becomes `value`.
CsrMatrix with_diagonal(CsrMatrix a, Index row, double value) {
  for (auto e = at(a.row_offsets[at(row)]); e < at(a.row_offsets[at(row) + 1]); ++e) {
    if (a.col_indices[e] == row) a.values[e] = value;
  }
  return a;
}

TEST_P(ScaledShiftTest, DiagonalThatNoShiftHelpsIsNamed) {
  for (const CsrMatrix& good : {test::tridiagonal(40, -1, 4, -1), kershaw(10)}) {
    for (const Index row : {0, 17, 39}) {
      for (const double value : {0.0, -2.0, -0.0}) {
        SCOPED_TRACE("row " + std::to_string(row) + ": " + std::to_string(value));
        const CsrMatrix a = with_diagonal(good, row, value);
        Factorization f = factorization(a, kScaled);
        const FactorStatus status = factor(f, a.values);
        EXPECT_EQ(status.outcome, FactorOutcome::not_definite);
        // A negative first entry makes the second row the one that differs.
        EXPECT_EQ(status.first_row, row == 0 && value < 0 ? 1 : row);
        EXPECT_EQ(status.shifts, 0) << "shifts cannot help";
        EXPECT_TRUE(factor(f, good.values).ok()) << "what comes after is not disturbed";
      }
    }
  }
}

TEST_P(ScaledShiftTest, ValuesThatAreNotFiniteAreNamed) {
  const CsrMatrix good = test::tridiagonal(40, -1, 4, -1);
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const CsrMatrix a = with_diagonal(good, 17, value);
    Factorization f = factorization(a, kScaled);
    const FactorStatus status = factor(f, a.values);
    EXPECT_EQ(status.outcome, FactorOutcome::non_finite);
    EXPECT_EQ(status.first_row, 17);
  }
}

TEST_P(ScaledShiftTest, MatrixThatIsFarFromDefiniteEndsWithABadPivot) {
  const CsrMatrix a{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 1e5, 1e5, 1}};
  Factorization f = factorization(a, kScaled);
  const FactorStatus status = factor(f, a.values);
  EXPECT_EQ(status.outcome, FactorOutcome::zero_pivot);
  EXPECT_EQ(status.first_row, 1);
  EXPECT_EQ(status.shifts, 7);
}

TEST_P(ScaledShiftTest, NextValuesStartWithoutAShift) {
  const CsrMatrix bad = kershaw(10);
  CsrMatrix good = with_shift(bad, 3.0);
  Factorization f = factorization(bad, kScaled);
  EXPECT_GE(factor(f, bad.values).shifts, 1);
  const FactorStatus status = factor(f, good.values);
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.shifts, 0);
}

TEST_P(ScaledShiftTest, IluIsRefused) {
  const CsrMatrix a = kershaw(2);
  EXPECT_THROW(factorization(a, {.kind = FactorKind::ilu, .shift = ShiftType::scaled}), InvalidInput);
}

}  // namespace
}  // namespace taskdag
