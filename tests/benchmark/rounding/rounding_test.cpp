/// The study of rounded factors: rounding, and methods that count their iterations.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "krylov.hpp"
#include "rounded.hpp"
#include "taskdag/generators.hpp"
#include "triangular_case.hpp"

namespace taskdag::benchmark {
namespace {

TEST(Rounding, IsToTheNearestAndOfTwoToTheEvenOne) {
  constexpr double kStep = 1.0 / 128;  // from 1 to the next bfloat16
  EXPECT_EQ(rounded(1.0 + 0.4 * kStep, Storage::in_bfloat16), 1.0);
  EXPECT_EQ(rounded(1.0 + 0.6 * kStep, Storage::in_bfloat16), 1.0 + kStep);
  EXPECT_EQ(rounded(1.0 + 0.5 * kStep, Storage::in_bfloat16), 1.0);
  EXPECT_EQ(rounded(-1.0 - 1.5 * kStep, Storage::in_bfloat16), -1.0 - 2 * kStep);
  EXPECT_EQ(rounded(0.1, Storage::in_single), static_cast<double>(0.1F));
  EXPECT_EQ(rounded(0.1, Storage::in_double), 0.1);
  EXPECT_TRUE(std::isinf(rounded(1e300, Storage::in_bfloat16)));
  EXPECT_TRUE(std::isnan(rounded(std::nan(""), Storage::in_bfloat16)));
}

TEST(Rounding, KeepsPivotsAndWhatFits) {
  const CsrMatrix a = make_stencil({Stencil::seven_point, 5, 4, 6, 1, 0.5});
  const CsrMatrix lu = make_factor(a);
  CsrMatrix same = lu;
  round_factor(same, Storage::in_double);
  CsrMatrix coarse = lu;
  round_factor(coarse, Storage::in_bfloat16);
  for (Index i = 0; i < lu.rows; ++i) {
    for (auto e = static_cast<std::size_t>(lu.row_offsets[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(lu.row_offsets[static_cast<std::size_t>(i) + 1]); ++e) {
      EXPECT_NEAR(same.values[e], lu.values[e], 1e-15 * std::abs(lu.values[e]));
      EXPECT_NEAR(coarse.values[e], lu.values[e], std::ldexp(1.0, -8) * std::abs(lu.values[e]));
      if (lu.col_indices[e] == i) {
        EXPECT_EQ(coarse.values[e], lu.values[e]);
      }
    }
  }
}

/// As many iterations as there are different eigenvalues, fewer with a preconditioner that takes some away.
TEST(Krylov, EndsWithTheEigenvalues) {
  CsrMatrix a;
  a.rows = a.cols = 60;
  a.row_offsets = {0};
  for (Index i = 0; i < a.rows; ++i) {
    a.col_indices.push_back(i);
    a.values.push_back(1.0 + i % 3);
    a.row_offsets.push_back(i + 1);
  }
  const std::vector<double> b(60, 1.0);
  const Preconditioner nothing = [](const std::vector<double>& r) { return r; };
  const Preconditioner inverse = [&](std::vector<double> r) {
    for (std::size_t i = 0; i < r.size(); ++i) r[i] /= a.values[i];
    return r;
  };
  EXPECT_EQ(conjugate_gradients(a, b, nothing, 1e-10, 100).iterations, 3);
  EXPECT_EQ(conjugate_gradients(a, b, inverse, 1e-10, 100).iterations, 1);
  const Solve solve = bicgstab(a, b, nothing, 1e-10, 100);
  EXPECT_TRUE(solve.converged);
  EXPECT_LE(solve.iterations, 3);
  EXPECT_LE(solve.residual, 1e-9);
}

TEST(Krylov, SaysThatItDoesNotConverge) {
  const CsrMatrix a = make_stencil({Stencil::five_point, 30, 30, 1, 1, 0.0});
  const std::vector<double> b = random_vector(static_cast<std::size_t>(a.rows), 5);
  const Preconditioner nothing = [](const std::vector<double>& r) { return r; };
  EXPECT_FALSE(conjugate_gradients(a, b, nothing, 1e-10, 3).converged);
  EXPECT_FALSE(bicgstab(a, b, nothing, 1e-10, 3).converged);
  const Preconditioner negative = [](std::vector<double> r) {
    for (double& value : r) value = -value;
    return r;
  };
  EXPECT_FALSE(conjugate_gradients(a, b, negative, 1e-10, 100).converged);
}

}  // namespace
}  // namespace taskdag::benchmark
