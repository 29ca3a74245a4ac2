// The growth of a factor: against what an application makes of the vector by itself.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "backends.hpp"
#include "base/index.hpp"
#include "kernels/factor/growth.hpp"
#include "problems.hpp"
#include "taskdag/error.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

class FactorGrowthTest : public test::BackendTest {
 protected:
  [[nodiscard]] double growth(Factorization& f, const CsrMatrix& a, bool scaled = true) const {
    test::MatrixArrays arrays = place(a);
    return f.growth(scaled ? arrays.values() : nullptr, space(), stream());
  }
  /// Factorised with the very arrays that growth() is given.
  double factored_growth(const CsrMatrix& a, const FactorOptions& options, const std::vector<Index>& row_order = {},
                         const std::vector<Index>& col_order = {}) const {
    Factorization f = factorization(a, options, row_order, col_order);
    static_cast<void>(factor(f, a.values));
    return growth(f, a);
  }
};
INSTANTIATE_TEST_SUITE_P(On, FactorGrowthTest, testing::ValuesIn(test::everywhere_and_one_block()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

constexpr FactorKind kKinds[] = {FactorKind::ilu, FactorKind::ic};

TEST_P(FactorGrowthTest, IsWhatAnApplicationMakesOfItsVector) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 7, .ny = 6, .nz = 5});
  std::vector<Index> order(at(a.rows));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::reverse(order);
  std::vector<double> elements(at(a.rows));
  for (Index i = 0; i < a.rows; ++i) {
    elements[at(i)] = kernels::growth_element(i);
    EXPECT_LE(elements[at(i)], 1.0);
    EXPECT_GE(elements[at(i)], 0.5);
  }
  for (const FactorKind kind : kKinds) {
    for (const std::vector<Index>& with : {std::vector<Index>{}, order}) {
      Factorization f = factorization(a, {.kind = kind}, with, with);
      ASSERT_TRUE(factor(f, a.values).ok());
      double largest = 0.0;
      std::vector<double> b = elements;
      if (!with.empty()) std::ranges::reverse(b);
      for (const double x : apply(f, Apply::full, b)) {
        largest = std::max(largest, std::abs(x));
      }
      EXPECT_GT(largest, 0.0);
      EXPECT_DOUBLE_EQ(growth(f, a, false), largest);
      // All diagonal entries are 6.
      EXPECT_NEAR(growth(f, a), 6 * largest, 1e-12 * largest);
      EXPECT_EQ(f.outcome(), SolveOutcome::success);
    }
  }
}

TEST_P(FactorGrowthTest, IsNotAboveItsBound) {
  const bool host = context().backend() == Backend::host;
  for (const test::Problem& problem : test::small_problems()) {
    for (const FactorKind kind : kKinds) {
      for (const int levels : {0, 1}) {
        SCOPED_TRACE(problem.name);
        Factorization f = factorization(problem.a, {.kind = kind, .levels = levels});
        if (!factor(f, problem.a.values).ok()) continue;
        EXPECT_LE(growth(f, problem.a), f.growth_bound());
        if (!host) {
          EXPECT_EQ(f.growth_bound(), std::numeric_limits<double>::infinity());
        }
      }
    }
  }
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 30, .ny = 20, .wind = 0.3});
  Factorization f = factorization(a, {});
  EXPECT_THROW(static_cast<void>(f.growth_bound()), InvalidInput);
  ASSERT_TRUE(factor(f, a.values).ok());
  // Squared rows, and less than half of the diagonal is left in a pivot.
  if (host) {
    EXPECT_GE(f.growth_bound(), 600.0 * 600.0);
    EXPECT_LE(f.growth_bound(), 600.0 * 600.0 * 2.0);
  }
}

TEST_P(FactorGrowthTest, HasNoBoundWhereRowsAreLarge) {
  if (context().backend() != Backend::host) GTEST_SKIP() << "there is none at all";
  const auto bound_of = [&](const CsrMatrix& a, const FactorOptions& options) {
    Factorization f = factorization(a, options);
    static_cast<void>(factor(f, a.values));
    return f.growth_bound();
  };
  const double none = std::numeric_limits<double>::infinity();
  EXPECT_LT(bound_of(test::tridiagonal(50, -1.0, 2.0, -1.0), {}), none);
  EXPECT_EQ(bound_of(test::tridiagonal(50, -1.0, 1.5, -1.0), {}), none) << "sums of U";
  EXPECT_EQ(bound_of(test::tridiagonal(50, -3.0, 2.5, -0.1), {}), none) << "sums of L";
  EXPECT_EQ(bound_of(test::tridiagonal(50, -1.0, 2.0, -1.0), {.precision = Precision::in_single}), none);
  CsrMatrix shifted = test::tridiagonal(50, -0.1, 1.0, -0.1);
  shifted.values.front() = 0.0;
  EXPECT_EQ(bound_of(shifted, {.shift = ShiftType::nonzero}), none);
  EXPECT_EQ(bound_of(shifted, {}), none);
}

TEST_P(FactorGrowthTest, DoesNotDependOnScaling) {
  const CsrMatrix a = test::made_dominant(make_stencil({.stencil = Stencil::five_point, .nx = 9, .ny = 8}));
  const auto scale_of = [](Index i) { return std::ldexp(1.0, (i * 37) % 61 - 30); };
  CsrMatrix bad = a;
  for (Index i = 0; i < a.rows; ++i) {
    for (auto e = at(a.row_offsets[at(i)]); e < at(a.row_offsets[at(i) + 1]); ++e) {
      bad.values[e] *= scale_of(i) * scale_of(a.col_indices[e]);
    }
  }
  for (const FactorKind kind : kKinds) {
    const FactorOptions options{.kind = kind, .zero_pivot = 0.0};
    EXPECT_EQ(factored_growth(bad, options), factored_growth(a, options));
  }
}

TEST_P(FactorGrowthTest, RowsAndColumnsOfDifferentOrdersMeetTheirDiagonal) {
  // A permuted diagonal matrix: of B, the diagonal is 1, 2, 3, …, and M is B.
  constexpr Index kRows = 8;
  CsrMatrix a{kRows, kRows, {0}, {}, {}};
  std::vector<Index> row_order;
  std::vector<Index> col_order;
  for (Index i = 0; i < kRows; ++i) {
    a.col_indices.push_back((i + 3) % kRows);
    a.values.push_back(1.0 + i);
    a.row_offsets.push_back(i + 1);
    row_order.push_back(i);
    col_order.push_back((i + 3) % kRows);
  }
  double largest = 0.0;
  for (Index i = 0; i < kRows; ++i) largest = std::max(largest, kernels::growth_element(i));
  EXPECT_DOUBLE_EQ(factored_growth(a, {}, row_order, col_order), largest);
}

TEST_P(FactorGrowthTest, SmallPivotsShow) {
  // The second pivot is what the first leaves of 1.
  const double remaining = 1e-9;
  const CsrMatrix a{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 1, 1, 1 + remaining}};
  for (const FactorKind kind : kKinds) {
    for (const double sign : {-1.0, 1.0}) {
      CsrMatrix small = a;
      small.values[1] = small.values[2] = sign;
      EXPECT_GT(factored_growth(small, {.kind = kind}), 1e7) << sign;
    }
  }
}

TEST_P(FactorGrowthTest, ShiftedPivotsShow) {
  // Of these two rows nothing remains for the second pivot but its shift.
  const CsrMatrix a{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 1, 1, 1}};
  for (const FactorKind kind : kKinds) {
    for (const ShiftType shift : {ShiftType::nonzero, ShiftType::inblocks}) {
      EXPECT_GT(factored_growth(a, {.kind = kind, .shift = shift}), 1e11);
    }
  }
}

TEST_P(FactorGrowthTest, IsInfiniteWhereTheFactorIsNotFinite) {
  const CsrMatrix zero{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 1, 1, 1}};
  CsrMatrix nan = zero;
  nan.values[3] = std::numeric_limits<double>::quiet_NaN();
  for (const CsrMatrix& a : {zero, nan}) {
    for (const FactorKind kind : kKinds) {
      Factorization f = factorization(a, {.kind = kind});
      EXPECT_FALSE(factor(f, a.values).ok());
      EXPECT_EQ(growth(f, a), std::numeric_limits<double>::infinity());
      EXPECT_EQ(f.outcome(), SolveOutcome::non_finite);
    }
  }
}

TEST_P(FactorGrowthTest, NeedsAFactor) {
  const CsrMatrix a = test::tridiagonal(5, -1, 4, -1);
  Factorization f = factorization(a, {});
  EXPECT_THROW(static_cast<void>(growth(f, a)), InvalidInput);
}

}  // namespace
}  // namespace taskdag
