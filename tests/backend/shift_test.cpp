// Shifts of the diagonal: amounts and counts are those of PETSc's loop. The expectation is a plain dense transcription
// of that loop: attempt, restart at the first bad pivot, refine.
#include <algorithm>
#include <cmath>
#include <limits>

#include "backends.hpp"
#include "measure.hpp"
#include "problems.hpp"

namespace taskdag {
namespace {

TASKDAG_BACKEND_SUITE(ShiftTest, test::everywhere_and_one_block());

constexpr FactorKind kKinds[] = {FactorKind::ilu, FactorKind::ic};

struct Dense {
  std::size_t n;
  std::vector<double> value;
  std::vector<bool> stored;
  explicit Dense(const CsrMatrix& a) : n(static_cast<std::size_t>(a.rows)), value(n * n, 0.0), stored(n * n, false) {
    for (std::size_t i = 0; i < n; ++i) {
      for (auto e = static_cast<std::size_t>(a.row_offsets[i]); e < static_cast<std::size_t>(a.row_offsets[i + 1]);
           ++e) {
        value[i * n + static_cast<std::size_t>(a.col_indices[e])] = a.values[e];
        stored[i * n + static_cast<std::size_t>(a.col_indices[e])] = true;
      }
    }
  }
};

/// PETSc's shift context.
struct PlainLoop {
  const FactorOptions& options;
  double amount = 0, top = 0, fraction = 0, low = 0, high = 1;
  int shifts = 0;

  /// Whether the attempt starts again because of this pivot; inblocks changes the pivot.
  bool check(double& pivot, double others) {
    switch (options.shift) {
      case ShiftType::nonzero:
        if (!(std::abs(pivot) <= options.zero_pivot * others)) return false;
        amount = shifts == 0 ? options.shift_amount : 2 * amount;
        break;
      case ShiftType::positive_definite:
        if (!(pivot <= options.zero_pivot * others)) return false;
        if (shifts == 5) {
          fraction = high;
        } else {
          low = fraction;
          fraction = (high + low) / 2;
        }
        amount = fraction * top;
        break;
      case ShiftType::inblocks:
        if (std::abs(pivot) <= options.zero_pivot) {
          pivot += options.shift_amount;
          ++shifts;
        }
        return false;
      case ShiftType::none:
      case ShiftType::scaled:  // not PETSc's
        return false;
    }
    ++shifts;
    return true;
  }

  bool attempt(Dense f) {
    const std::size_t n = f.n;
    const bool ic0 = options.kind == FactorKind::ic;
    for (std::size_t i = 0; i < n; ++i) f.value[i * n + i] += amount;
    if (ic0) {  // the upper triangle stands for both
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          f.value[i * n + j] = f.value[j * n + i];
          f.stored[i * n + j] = f.stored[j * n + i];
        }
      }
    }
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t m = 0; m < k; ++m) {
        if (!f.stored[k * n + m]) continue;
        const double multiplier = f.value[k * n + m] / f.value[m * n + m];
        f.value[k * n + m] = multiplier;
        for (std::size_t j = m + 1; j < n; ++j) {
          if (f.stored[k * n + j] && f.stored[m * n + j]) f.value[k * n + j] -= multiplier * f.value[m * n + j];
        }
      }
      double others = 0;
      for (std::size_t j = 0; j < n; ++j) {
        if (j != k && f.stored[k * n + j] && (!ic0 || j > k)) others += std::abs(f.value[k * n + j]);
      }
      if (check(f.value[k * n + k], others)) return false;
    }
    return true;
  }

  void run(const CsrMatrix& a) {
    const Dense dense(a);
    if (options.shift == ShiftType::positive_definite) {
      top = options.zero_pivot;
      for (std::size_t i = 0; i < dense.n; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < dense.n; ++j) {
          sum += i == j ? -dense.value[i * dense.n + i] : std::abs(dense.value[i * dense.n + j]);
        }
        top = std::max(top, sum);
      }
      top *= 1.1;
    }
    for (int attempts = 0; attempts < 2000; ++attempts) {
      if (!attempt(dense)) continue;
      const bool refine = options.kind == FactorKind::ilu && options.shift == ShiftType::positive_definite &&
                          fraction > 0 && shifts < 5;
      if (!refine) return;
      high = fraction;
      fraction = (high + low) / 2;
      amount = fraction * top;
      ++shifts;
    }
  }
};

std::vector<test::Problem> shifted_problems() {
  std::vector<test::Problem> result;
  CsrMatrix zero = test::tridiagonal(40, -1, 4, -1);
  zero.values[0] = 0.0;
  result.push_back({"zero in the first row", zero});
  CsrMatrix last = test::tridiagonal(40, 0, 4, 0);
  last.values[39] = 0.0;
  result.push_back({"zero in the last row", last});
  result.push_back({"eliminated to zero", {2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 1, 1, 1}}});
  result.push_back({"indefinite 2x2", {2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 2, 2, 1}}});
  result.push_back({"negative 3x3", {3, 3, {0, 2, 5, 7}, {0, 1, 0, 1, 2, 1, 2}, {-2, 1, 1, 0.5, -3, -3, 1}}});
  result.push_back({"weak diagonal", test::tridiagonal(30, -1, 1.2, -1)});
  CsrMatrix grid = make_stencil({.stencil = Stencil::five_point, .nx = 6, .ny = 5});
  for (std::size_t e = 0; e < grid.values.size(); e += 7) grid.values[e] *= -0.5;
  result.push_back({"grid with wrong signs", grid});
  result.push_back({"nothing to shift", test::tridiagonal(20, -1, 3, -1)});
  return result;
}

TEST_P(ShiftTest, AmountsAndCountsAreThoseOfPetscsLoop) {
  int shifted = 0;
  for (const test::Problem& problem : shifted_problems()) {
    for (const FactorKind kind : kKinds) {
      for (const ShiftType shift : {ShiftType::nonzero, ShiftType::positive_definite, ShiftType::inblocks}) {
        for (const double amount : {100 * std::numeric_limits<double>::epsilon(), 1e-3, 0.25}) {
          SCOPED_TRACE(problem.name + (kind == FactorKind::ic ? ", ic0" : ", ilu0") + ", shift " +
                       std::to_string(static_cast<int>(shift)) + " of " + std::to_string(amount));
          const FactorOptions options{.kind = kind, .shift = shift, .shift_amount = amount};
          PlainLoop expected{.options = options};
          expected.run(problem.a);
          Factorization f = factorization(problem.a, options);
          const FactorStatus status = factor(f, problem.a.values);
          EXPECT_TRUE(status.ok());
          EXPECT_EQ(status.first_row, -1);
          EXPECT_EQ(status.last_row, -1);
          EXPECT_EQ(status.shifts, expected.shifts);
          EXPECT_NEAR(status.shift_amount, expected.amount, 1e-15 * std::abs(expected.amount));
          shifted += status.shifts > 0 ? 1 : 0;
          if (shift != ShiftType::inblocks) {
            EXPECT_LE(test::factor_error(problem.a, f.copy_factor(), kind, status.shift_amount), 1.0);
          }
        }
      }
    }
  }
  EXPECT_GT(shifted, 50);
}

TEST_P(ShiftTest, SmallCasesByHand) {
  const CsrMatrix ones{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 1, 1, 1}};
  // nonzero: the second pivot is 0 once, then (1.25 − 1/1.25) is large enough.
  Factorization nonzero = factorization(ones, {.shift = ShiftType::nonzero, .shift_amount = 0.25});
  FactorStatus status = factor(nonzero, ones.values);
  EXPECT_EQ(status.shifts, 1);
  EXPECT_EQ(status.shift_amount, 0.25);
  // inblocks: only the pivot changes, the matrix does not.
  Factorization inblocks = factorization(ones, {.shift = ShiftType::inblocks, .shift_amount = 0.25});
  status = factor(inblocks, ones.values);
  EXPECT_EQ(status.shifts, 1);
  EXPECT_EQ(status.shift_amount, 0.0);
  EXPECT_EQ(inblocks.copy_factor().values, (std::vector<double>{1, 1, 1, 0.25}));
  // positive_definite: rows [1 2; 2 1] give top = 1.1 · 1; half of it leaves 1.55 − 4/1.55 < 0, three quarters
  // 1.825 − 4/1.825 < 0, 7/8: 1.9625 − 4/1.9625 < 0, 15/16: 2.03125 − 4/2.03125 > 0; the fifth, a refinement to 29/32,
  // fails (1.996875² < 4), and the next attempt takes the smallest amount that sufficed, 15/16.
  const CsrMatrix indefinite{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 2, 2, 1}};
  Factorization definite = factorization(indefinite, {.shift = ShiftType::positive_definite});
  status = factor(definite, indefinite.values);
  EXPECT_EQ(status.shifts, 6);
  EXPECT_DOUBLE_EQ(status.shift_amount, 1.1 * 15 / 16);
  // For ic0 nothing is refined.
  Factorization cholesky = factorization(indefinite, {.kind = FactorKind::ic, .shift = ShiftType::positive_definite});
  status = factor(cholesky, indefinite.values);
  EXPECT_EQ(status.shifts, 4);
  EXPECT_DOUBLE_EQ(status.shift_amount, 1.1 * 15 / 16);
}

TEST_P(ShiftTest, OtherTolerancesAndAmountsNeedNoNewFactorisation) {
  for (const FactorKind kind : kKinds) {
    for (const ShiftType shift : {ShiftType::nonzero, ShiftType::inblocks}) {
      for (const test::Problem& problem : shifted_problems()) {
        Factorization f = factorization(problem.a, {.kind = kind, .shift = shift});
        Factorization fresh =
            factorization(problem.a, {.kind = kind, .shift = shift, .shift_amount = 0.25, .zero_pivot = 0.5});
        EXPECT_TRUE(factor(f, problem.a.values).ok()) << problem.name;
        f.set_pivoting(0.25, 0.5);
        const FactorStatus status = factor(f, problem.a.values);
        const FactorStatus expected = factor(fresh, problem.a.values);
        EXPECT_EQ(status.shifts, expected.shifts) << problem.name;
        EXPECT_EQ(status.shift_amount, expected.shift_amount) << problem.name;
        EXPECT_TRUE(test::same_bits(f.copy_factor().values, fresh.copy_factor().values)) << problem.name;
      }
    }
  }
  Factorization f = factorization(test::tridiagonal(3, -1, 3, -1), {});
  EXPECT_THROW(f.set_pivoting(std::numeric_limits<double>::infinity(), 0.0), InvalidInput);
  EXPECT_THROW(f.set_pivoting(0.0, -1.0), InvalidInput);
}

TEST_P(ShiftTest, NextValuesStartWithoutAShift) {
  const CsrMatrix good = test::tridiagonal(20, -1, 3, -1);
  std::vector<double> bad = good.values;
  bad[0] = 0.0;
  for (const FactorKind kind : kKinds) {
    Factorization f = factorization(good, {.kind = kind, .shift = ShiftType::nonzero});
    Factorization fresh = factorization(good, {.kind = kind, .shift = ShiftType::nonzero});
    EXPECT_GE(factor(f, bad).shifts, 1);
    const FactorStatus status = factor(f, good.values);
    EXPECT_EQ(status.shifts, 0);
    EXPECT_EQ(status.shift_amount, 0.0);
    EXPECT_TRUE(factor(fresh, good.values).ok());
    EXPECT_TRUE(test::same_bits(f.copy_factor().values, fresh.copy_factor().values));
  }
}

TEST_P(ShiftTest, ShiftThatCannotHelpEndsWithAZeroPivot) {
  const CsrMatrix zero{1, 1, {0, 1}, {0}, {0.0}};
  for (const FactorKind kind : kKinds) {
    Factorization f = factorization(zero, {.kind = kind, .shift = ShiftType::nonzero, .shift_amount = 0.0});
    EXPECT_EQ(factor(f, zero.values).outcome, FactorOutcome::zero_pivot);
  }
}

}  // namespace
}  // namespace taskdag
