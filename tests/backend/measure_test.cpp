// The measures of measure.hpp: they accept what rounding does and nothing that is larger.
#include "measure.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "problems.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

/// An index in the middle whose change the residual must show.
std::size_t middle(const std::vector<double>& values) { return values.size() / 2; }

TEST(MeasureTest, SolutionsOfTheReferenceAreRightAndChangedOnesAreNot) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 20, .ny = 20, .wind = 1.0});
  const std::vector<double> b = test::right_hand_side(a.rows);
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    for (const bool transposed : {false, true}) {
      const TriangularOptions options{.triangle = triangle, .transposed = transposed};
      std::vector<double> x = test::reference_solve(a, options, b);
      EXPECT_LE(test::triangular_error(a, options, b, x), 1.0);
      x[middle(x)] *= 1 + 1e-13;
      EXPECT_GT(test::triangular_error(a, options, b, x), 1.0);
      EXPECT_GT(test::difference(x, test::reference_solve(a, options, b)), 1e-15);
      x[middle(x)] = std::nan("");
      EXPECT_FALSE(test::triangular_error(a, options, b, x) <= 1.0);
      EXPECT_FALSE(test::difference(x, b) <= 1.0);
    }
  }
}

TEST(MeasureTest, FactorsOfTheReferenceAreRightAndChangedOnesAreNot) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 8, .ny = 7, .nz = 6});
  for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
    FactorStatus status;
    const CsrMatrix right = test::reference_factor(a, {.kind = kind}, 0.5, status);
    EXPECT_LE(test::factor_error(a, right, kind, 0.5), 1.0);
    EXPECT_GT(test::factor_error(a, right, kind, 0.5 + 1e-12), 1.0);
    const std::vector<double> b = test::right_hand_side(a.rows);
    for (const bool transposed : {false, true}) {
      std::vector<double> x = test::reference_apply(right, kind, transposed, b);
      EXPECT_LE(test::apply_error(right, kind, transposed, b, x), 1.0);
      x[middle(x)] *= 1 + 1e-12;
      EXPECT_GT(test::apply_error(right, kind, transposed, b, x), 1.0);
    }
    for (std::size_t e = 0; e < right.values.size(); e += 97) {
      CsrMatrix wrong = right;
      wrong.values[e] *= 1 + 1e-12;
      EXPECT_GT(test::factor_error(a, wrong, kind, 0.5), 1.0) << e;
      EXPECT_GT(test::factor_difference(wrong, right), 0.0);
    }
    CsrMatrix other = right;
    other.col_indices[1] += 1;
    EXPECT_TRUE(std::isinf(test::factor_difference(other, right)));
  }
}

TEST(MeasureTest, SignsOfZeroAndNansAreBits) {
  EXPECT_FALSE(test::same_bits({0.0}, {-0.0}));
  EXPECT_TRUE(test::same_bits({std::nan("")}, {std::nan("")}));
  EXPECT_FALSE(test::same_bits({1.0}, {1.0, 2.0}));
  EXPECT_TRUE(test::same_bits({}, {}));
}

}  // namespace
}  // namespace taskdag
