// Factorisations in which only the diagonal changes. On CUDA with the schedule cells their inverse pivots come from a
// triangular sweep.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "backends.hpp"
#include "base/index.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

using test::Problem;

TASKDAG_BACKEND_SUITE(RecurrenceTest, test::once_per_backend());

constexpr FactorKind kKinds[] = {FactorKind::ilu, FactorKind::ic};

/// The diagonal, the last row and the last column: rows of one or two entries, and one of many.
CsrMatrix arrow(Index rows) {
  CsrMatrix a{rows, rows, {0}, {}, {}};
  const auto put = [&](Index column, double value) {
    a.col_indices.push_back(column);
    a.values.push_back(value);
  };
  for (Index i = 0; i + 1 < rows; ++i) {
    put(i, 2.0 + i % 3);
    put(rows - 1, -1.0 / rows);
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  for (Index j = 0; j + 1 < rows; ++j) put(j, -1.0 / rows);
  put(rows - 1, 3.0);
  a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  return a;
}

/// Without every third entry right of the diagonal: some entries left of it have no counterpart.
CsrMatrix one_sided(const CsrMatrix& a) {
  CsrMatrix result{a.rows, a.cols, {0}, {}, {}};
  for (Index i = 0; i < a.rows; ++i) {
    for (auto e = at(a.row_offsets[at(i)]); e < at(a.row_offsets[at(i) + 1]); ++e) {
      if (a.col_indices[e] > i && e % 3 == 0) continue;
      result.col_indices.push_back(a.col_indices[e]);
      result.values.push_back(a.values[e]);
    }
    result.row_offsets.push_back(static_cast<Offset>(result.col_indices.size()));
  }
  return result;
}

constexpr const char* kUnsymmetric[] = {"7-point, wind", "7-point, one-sided"};

/// Patterns without triangles: no row has an update, in whatever order.
std::vector<Problem> problems() {
  return {{"5-point", make_stencil({.stencil = Stencil::five_point, .nx = 70, .ny = 61})},
          {"7-point", make_stencil({.stencil = Stencil::seven_point, .nx = 17, .ny = 15, .nz = 14})},
          {"7-point, wind", make_stencil({.stencil = Stencil::seven_point, .nx = 11, .ny = 23, .nz = 9, .wind = 0.7})},
          {"7-point, one-sided",
           one_sided(make_stencil({.stencil = Stencil::seven_point, .nx = 11, .ny = 23, .nz = 9, .wind = 0.7}))},
          {"a line", make_stencil({.stencil = Stencil::five_point, .nx = 3000, .ny = 1})},
          {"an arrow", arrow(5000)}};
}

/// Every third row in turn.
std::vector<Index> some_order(Index rows) {
  std::vector<Index> order;
  for (Index first = 0; first < 3; ++first) {
    for (Index i = first; i < rows; i += 3) order.push_back(i);
  }
  return order;
}

class Cases {
 public:
  explicit Cases(Backend backend)
      : schedule_(backend == Backend::cuda && test::device_has_cells() ? SolveSchedule::cells
                                                                       : SolveSchedule::automatic) {}

  /// Calls visit(problem, options) for all that make sense.
  template <class Visit>
  void each(const Visit& visit) const {
    for (const Problem& problem : problems()) {
      for (const FactorKind kind : kKinds) {
        if (kind == FactorKind::ic && std::ranges::find(kUnsymmetric, problem.name) != std::end(kUnsymmetric)) continue;
        SCOPED_TRACE(problem.name + (kind == FactorKind::ic ? ", ic0" : ", ilu0"));
        visit(problem.a, FactorOptions{.kind = kind, .schedule = schedule_});
      }
    }
  }

 private:
  SolveSchedule schedule_;
};

TEST_P(RecurrenceTest, FactorsAndApplicationsMatchTheReference) {
  Cases(context().backend()).each([&](const CsrMatrix& a, const FactorOptions& options) {
    Factorization f = factorization(a, options);
    CsrMatrix now = a;
    for (int repeat = 0; repeat < 3; ++repeat) {  // with new values, too
      ASSERT_TRUE(factor(f, now.values).ok());
      FactorStatus unused;
      const CsrMatrix computed = f.copy_factor();
      EXPECT_LE(test::factor_difference(computed, test::reference_factor(now, options, 0.0, unused)),
                test::kForwardBound);
      EXPECT_LE(test::factor_error(now, computed, options.kind), 1.0);
      const std::vector<double> b = test::right_hand_side(a.rows);
      const std::vector<double> x = apply(f, Apply::full, b);
      EXPECT_LE(test::apply_error(computed, options.kind, false, b, x), 1.0);
      if (options.kind == FactorKind::ilu) now.values = test::other_values(now.values);
      now = test::made_dominant(now);
    }
  });
}

TEST_P(RecurrenceTest, OrdersAreFollowed) {
  Cases(context().backend()).each([&](const CsrMatrix& a, const FactorOptions& options) {
    const std::vector<Index> order = some_order(a.rows);
    Factorization f = factorization(a, options, order, order);
    ASSERT_TRUE(factor(f, a.values).ok());
    const CsrMatrix b = test::permuted(a, order, order);
    FactorStatus unused;
    const CsrMatrix computed = f.copy_factor();
    EXPECT_LE(test::factor_difference(computed, test::reference_factor(b, options, 0.0, unused)), test::kForwardBound);
    EXPECT_LE(test::factor_error(b, computed, options.kind), 1.0);
  });
}

TEST_P(RecurrenceTest, TheSameValuesGiveTheSameBits) {
  Cases(context().backend()).each([&](const CsrMatrix& a, const FactorOptions& options) {
    Factorization f = factorization(a, options);
    ASSERT_TRUE(factor(f, a.values).ok());
    const std::vector<double> first = f.copy_factor().values;
    for (int repeat = 0; repeat < 5; ++repeat) {
      ASSERT_TRUE(factor(f, a.values).ok());
      EXPECT_TRUE(test::same_bits(f.copy_factor().values, first));
    }
  });
}

std::size_t diagonal_of(const CsrMatrix& a, Index row) {
  auto e = at(a.row_offsets[at(row)]);
  while (a.col_indices[e] != row) ++e;
  return e;
}

TEST_P(RecurrenceTest, ZeroPivotsAndOtherNumbersAreReportedAsTheReferenceDoes) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Cases(context().backend()).each([&](const CsrMatrix& a, const FactorOptions& options) {
    for (const Index row : {Index{0}, a.rows / 2, a.rows - 1}) {
      for (const double bad : {kNan, kInfinity, 0.0}) {
        CsrMatrix spoilt = a;
        // A pivot that is zero for certain: nothing is subtracted from the first one.
        spoilt.values[diagonal_of(a, bad == 0.0 ? 0 : row)] = bad;
        Factorization f = factorization(spoilt, options);
        FactorStatus expected;
        static_cast<void>(test::reference_factor(spoilt, options, 0.0, expected));
        const FactorStatus status = factor(f, spoilt.values);
        EXPECT_EQ(status.outcome, expected.outcome);
        EXPECT_EQ(status.first_row, expected.first_row);
        ASSERT_TRUE(factor(f, a.values).ok()) << "what comes after is not disturbed";
        EXPECT_LE(test::factor_error(a, f.copy_factor(), options.kind), 1.0);
      }
    }
  });
}

// On CUDA the recurrence multiplies two entries first, which an elimination does not.
TEST_P(RecurrenceTest, NumbersWhoseProductsAreOutOfRangeAreFactored) {
  Cases(context().backend()).each([&](const CsrMatrix& a, FactorOptions options) {
    options.zero_pivot = 0.0;
    for (const ShiftType shift : {ShiftType::none, ShiftType::scaled}) {
      if (shift == ShiftType::scaled && options.kind == FactorKind::ilu) continue;
      options.shift = shift;
      for (const double scale : {1e-165, 1e155}) {
        SCOPED_TRACE(scale);
        CsrMatrix scaled = a;
        for (double& value : scaled.values) value *= scale;
        Factorization f = factorization(scaled, options);
        FactorStatus expected;
        const CsrMatrix reference = test::reference_factor(scaled, options, 0.0, expected);
        ASSERT_TRUE(expected.ok());
        for (int repeat = 0; repeat < 2; ++repeat) {
          ASSERT_TRUE(factor(f, scaled.values).ok());
          EXPECT_LE(test::factor_difference(f.copy_factor(), reference), test::kForwardBound);
        }
        ASSERT_TRUE(factor(f, a.values).ok());
        EXPECT_LE(test::factor_error(a, f.copy_factor(), options.kind), 1.0);
      }
    }
  });
}

TEST_P(RecurrenceTest, ShiftsHelpAZeroPivot) {
  Cases(context().backend()).each([&](const CsrMatrix& a, FactorOptions options) {
    CsrMatrix singular = a;
    singular.values[diagonal_of(a, 0)] = 0.0;
    for (const ShiftType shift : {ShiftType::nonzero, ShiftType::positive_definite, ShiftType::inblocks}) {
      options.shift = shift;
      options.shift_amount = 1e-3;
      Factorization f = factorization(singular, options);
      const FactorStatus status = factor(f, singular.values);
      EXPECT_TRUE(status.ok());
      EXPECT_GE(status.shifts, 1);
      if (shift == ShiftType::inblocks) continue;
      EXPECT_GT(status.shift_amount, 0.0);
      EXPECT_LE(test::factor_error(singular, f.copy_factor(), options.kind, status.shift_amount), 1.0);
    }
  });
}

}  // namespace
}  // namespace taskdag
