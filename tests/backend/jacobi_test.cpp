// Jacobi sweeps on both backends.
#include "reference/jacobi.hpp"

#include <cmath>

#include "backends.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "support/effort.hpp"

namespace taskdag {
namespace {

TASKDAG_BACKEND_SUITE(JacobiTest, test::everywhere());

constexpr JacobiDiagonal kDiagonals[] = {JacobiDiagonal::diagonal, JacobiDiagonal::row_max, JacobiDiagonal::row_sum,
                                         JacobiDiagonal::row_l1};

/// The small problems, and one with negative, zero and absent diagonal entries and an empty row.
std::vector<test::Problem> problems() {
  std::vector<test::Problem> result = test::small_problems();
  CsrMatrix signs = make_stencil({.stencil = Stencil::five_point, .nx = 40, .ny = 35, .wind = 1.0});
  for (std::size_t i = 0; i < static_cast<std::size_t>(signs.rows); i += 3) {
    auto e = static_cast<std::size_t>(signs.row_offsets[i]);
    while (static_cast<std::size_t>(signs.col_indices[e]) != i) ++e;
    signs.values[e] = i % 2 == 0 ? -signs.values[e] : 0.0;
  }
  result.push_back({"wrong signs", signs});
  result.push_back({"hollow", {4, 4, {0, 2, 2, 4, 5}, {0, 3, 1, 2, 0}, {-2, 1, 5, 0.5, 3}}});
  return result;
}

TEST_P(JacobiTest, SweepsMatchTheReference) {
  for (const test::Problem& problem : problems()) {
    const std::vector<double> b = test::right_hand_side(problem.a.rows);
    for (const JacobiDiagonal kind : kDiagonals) {
      for (const bool absolute : {false, true}) {
        for (const int sweeps : test::kSanitized ? std::vector{1, 4} : std::vector{1, 2, 3, 4}) {
          for (const double damping : {1.0, 0.8, -0.5}) {
            if ((sweeps > 2 || test::kSanitized) && damping == 1.0) continue;
            const JacobiOptions options{.sweeps = sweeps, .damping = damping, .diagonal = kind, .absolute = absolute};
            Jacobi j = jacobi(problem.a, options);
            for (const bool transposed : {false, true}) {
              SCOPED_TRACE(problem.name + ", diagonal " + std::to_string(static_cast<int>(kind)) +
                           (absolute ? ", absolute, " : ", ") + std::to_string(sweeps) + " sweeps" +
                           (transposed ? ", transposed" : ""));
              const std::vector<double> x = apply(j, b, transposed);
              EXPECT_LE(test::difference(x, kernels::reference_jacobi(problem.a.view(), options, b, transposed)),
                        test::kForwardBound);
              EXPECT_TRUE(test::same_bits(apply(j, b, transposed), x));
            }
          }
        }
      }
    }
  }
}

TEST_P(JacobiTest, ChebyshevsWeightsMatchTheReference) {
  for (const test::Problem& problem : problems()) {
    const std::vector<double> b = test::right_hand_side(problem.a.rows);
    for (const int sweeps : {1, 2, 3, 7}) {
      for (const JacobiForm form : {JacobiForm::automatic, JacobiForm::kernels, JacobiForm::turning}) {
        const JacobiOptions options{.sweeps = sweeps,
                                    .damping = 0.9,
                                    .diagonal = JacobiDiagonal::row_l1,
                                    .form = form,
                                    .weights = JacobiWeights::chebyshev};
        Jacobi j = jacobi(problem.a, options);
        for (const bool transposed : {false, true}) {
          SCOPED_TRACE(problem.name + ", " + std::to_string(sweeps) + " sweeps, " + to_string(form) +
                       (transposed ? ", transposed" : ""));
          EXPECT_LE(test::difference(apply(j, b, transposed),
                                     kernels::reference_jacobi(problem.a.view(), options, b, transposed)),
                    test::kForwardBound);
        }
      }
    }
  }
}

TEST_P(JacobiTest, SweepsGoOnFromAVector) {
  for (const test::Problem& problem : problems()) {
    const std::vector<double> b = test::right_hand_side(problem.a.rows);
    std::vector<double> guess = test::right_hand_side(problem.a.rows);
    for (double& value : guess) value = 0.3 * value + 0.1;
    for (const JacobiWeights weights : {JacobiWeights::constant, JacobiWeights::chebyshev}) {
      for (const int sweeps : {1, 2, 3}) {
        SCOPED_TRACE(problem.name + ", " + std::to_string(sweeps) + " sweeps, " + to_string(weights));
        const JacobiOptions options{.sweeps = sweeps,
                                    .damping = 0.8,
                                    .diagonal = JacobiDiagonal::row_l1,
                                    .keep_matrix = true,
                                    .weights = weights};
        Jacobi j = jacobi(problem.a, options);
        test::Array<double> rhs = place(b);
        test::Array<double> x = place(guess);
        j.iterate(rhs.data(), x.data(), space(), stream());
        EXPECT_LE(test::difference(x.read(), kernels::reference_jacobi(problem.a.view(), options, b, false, guess)),
                  test::kForwardBound);
        // From 0 it is an application.
        test::Array<double> zero = place(std::vector<double>(b.size(), 0.0));
        j.iterate(rhs.data(), zero.data(), space(), stream());
        EXPECT_LE(test::difference(zero.read(), apply(j, b)), test::kForwardBound);
      }
    }
  }
}

/// On an eigenvector of D⁻¹ A with the eigenvalue λ sweeps multiply the error by a polynomial's value p(λ). That of the
/// fourth kind is at most 1 / (2 k + 1) of what is left of the norm of A: λ p(λ)² <= 1 / (2 k + 1)² (Lottes 2022).
TEST_P(JacobiTest, ChebyshevsWeightsSmoothAsTheySay) {
  constexpr Index kRows = 400;
  CsrMatrix diagonal;
  diagonal.rows = diagonal.cols = kRows;
  diagonal.row_offsets = {0};
  for (Index i = 0; i < kRows; ++i) {
    diagonal.col_indices.push_back(i);
    diagonal.values.push_back((i + 1.0) / kRows);
    diagonal.row_offsets.push_back(i + 1);
  }
  // A diagonal matrix with a term of 1 everywhere: rows hold outside what is missing.
  std::vector<double> outside;
  for (const double value : diagonal.values) outside.push_back(1.0 - value);
  const std::vector<double> b(static_cast<std::size_t>(kRows), 0.0);
  for (const int sweeps : {1, 2, 3, 6}) {
    SCOPED_TRACE(sweeps);
    Jacobi j = jacobi(diagonal, {.sweeps = sweeps,
                                 .diagonal = JacobiDiagonal::row_l1,
                                 .outside = outside,
                                 .keep_matrix = true,
                                 .weights = JacobiWeights::chebyshev});
    test::Array<double> rhs = place(b);
    test::Array<double> error = place(std::vector<double>(b.size(), 1.0));
    j.iterate(rhs.data(), error.data(), space(), stream());
    const std::vector<double> p = error.read();
    double largest = 0.0;
    for (std::size_t i = 0; i < p.size(); ++i)
      largest = std::max(largest, std::sqrt(diagonal.values[i]) * std::abs(p[i]));
    EXPECT_LE(largest, 1.0 / (2 * sweeps + 1) * (1.0 + 1e-9));
    EXPECT_GE(largest, 0.9 / (2 * sweeps + 1)) << "the bound is sharp";
  }
}

TEST_P(JacobiTest, ChebyshevsWeightsAreForAFixedNumberOfSweepsByKernels) {
  const CsrMatrix a = test::tridiagonal(300, -1, 4, -1);
  const std::vector<double> b = test::right_hand_side(a.rows);
  for (const JacobiForm form : {JacobiForm::stages_phases, JacobiForm::stages, JacobiForm::checkpoints,
                                JacobiForm::autonomous, JacobiForm::tiles, JacobiForm::resident}) {
    EXPECT_THROW(jacobi(a, {.sweeps = 2, .form = form, .weights = JacobiWeights::chebyshev}), InvalidInput);
  }
  Jacobi j = jacobi(a, {.sweeps = 2, .weights = JacobiWeights::chebyshev});
  test::Array<double> rhs = place(b);
  test::Array<double> x = place(b);
  EXPECT_THROW(static_cast<void>(j.solve(rhs.data(), x.data(), space(), {}, stream())), InvalidInput);
  EXPECT_THROW(j.iterate(rhs.data(), rhs.data(), space(), stream()), InvalidInput);
  Jacobi one = jacobi(a, {});
  EXPECT_THROW(one.iterate(rhs.data(), x.data(), space(), stream()), InvalidInput);
}

TEST_P(JacobiTest, OneSweepDividesByTheTermAndZerosCountAsOne) {
  const CsrMatrix a{4, 4, {0, 2, 4, 6, 7}, {0, 3, 1, 2, 0, 2, 0}, {-2, 1, 0, 0.5, 3, -4, 3}};
  const std::vector<double> b = {1, 2, 3, 4};
  const auto result = [&](JacobiDiagonal kind, bool absolute, Index zeros) {
    Jacobi j = jacobi(a, {.diagonal = kind, .absolute = absolute});
    EXPECT_EQ(j.zero_diagonals(), zeros);
    EXPECT_GT(j.bytes(), 0);
    return apply(j, b);
  };
  EXPECT_EQ(result(JacobiDiagonal::diagonal, false, 2), (std::vector<double>{-0.5, 2, -0.75, 4}));
  EXPECT_EQ(result(JacobiDiagonal::diagonal, true, 2), (std::vector<double>{0.5, 2, 0.75, 4}));
  EXPECT_EQ(result(JacobiDiagonal::row_max, false, 0), (std::vector<double>{0.5, 4, 0.75, 4 * (1.0 / 3)}));
  EXPECT_EQ(result(JacobiDiagonal::row_sum, false, 0), (std::vector<double>{-1, 4, -3, 4 * (1.0 / 3)}));
  EXPECT_EQ(result(JacobiDiagonal::row_sum, true, 0), (std::vector<double>{1, 4, 3, 4 * (1.0 / 3)}));
  EXPECT_EQ(result(JacobiDiagonal::row_l1, false, 0),
            (std::vector<double>{-1.0 / 3, 4, 3 * (-1.0 / 7), 4 * (1.0 / 3)}));
  EXPECT_EQ(result(JacobiDiagonal::row_l1, true, 0), (std::vector<double>{1.0 / 3, 4, 3 * (1.0 / 7), 4 * (1.0 / 3)}));
}

TEST_P(JacobiTest, WhatRowsHoldOutsideCounts) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 9, .ny = 8, .nz = 7, .wind = 1.0});
  const auto rows = static_cast<std::size_t>(a.rows);
  const std::vector<double> b = test::right_hand_side(a.rows);
  std::vector<double> outside(rows, 0.0);
  for (std::size_t i = 0; i < rows; i += 3) outside[i] = 1.0 + static_cast<double>(i % 11);
  for (const JacobiDiagonal kind : kDiagonals) {
    for (const int sweeps : {1, 3}) {
      const JacobiOptions options{.sweeps = sweeps, .diagonal = kind, .outside = outside};
      Jacobi j = jacobi(a, options);
      const std::vector<double> x = apply(j, b);
      EXPECT_LE(test::difference(x, kernels::reference_jacobi(a.view(), options, b, false)), test::kForwardBound);
      // Taken back, and given again.
      Jacobi other = jacobi(a, {.sweeps = sweeps, .diagonal = kind});
      other.set_outside(outside);
      other.update_values(a.view(), MemorySpace::host);
      EXPECT_TRUE(test::same_bits(apply(other, b), x));
      j.set_outside({});
      j.update_values(a.view(), MemorySpace::host);
      Jacobi without = jacobi(a, {.sweeps = sweeps, .diagonal = kind});
      EXPECT_TRUE(test::same_bits(apply(j, b), apply(without, b)));
      EXPECT_EQ(test::same_bits(apply(j, b), x), kind == JacobiDiagonal::diagonal);
    }
  }
  Jacobi j = jacobi(a, {});
  EXPECT_THROW(j.set_outside({1.0}), InvalidInput);
  EXPECT_THROW(jacobi(a, {.outside = {1.0}}), InvalidInput);
}

TEST_P(JacobiTest, UpdatedValuesEqualAFreshObject) {
  for (const int sweeps : {1, 3}) {
    const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 9, .ny = 8, .nz = 7, .wind = 1.0});
    CsrMatrix other = a;
    other.values = test::other_values(a.values);
    other.values[0] = 0.0;  // a diagonal entry
    const std::vector<double> b = test::right_hand_side(a.rows);
    Jacobi used = jacobi(a, {.sweeps = sweeps, .damping = 0.7});
    Jacobi fresh = jacobi(other, {.sweeps = sweeps, .damping = 0.7});
    static_cast<void>(apply(used, b, false));
    static_cast<void>(apply(used, b, true));
    EXPECT_EQ(used.zero_diagonals(), 0);
    test::MatrixArrays arrays = place(other);
    used.update_values(arrays.view(), space(), stream());
    EXPECT_EQ(used.zero_diagonals(), 1);
    for (const bool transposed : {false, true}) {
      EXPECT_TRUE(test::same_bits(apply(used, b, transposed), apply(fresh, b, transposed)));
    }
  }
}

TEST_P(JacobiTest, OneSweepWorksInPlace) {
  const CsrMatrix a = test::tridiagonal(1025, -1, 4, -1);
  const std::vector<double> b = test::right_hand_side(a.rows);
  Jacobi j = jacobi(a, {});
  test::Array<double> both = place(b);
  j.apply(both.data(), both.data(), space(), false, stream());
  EXPECT_TRUE(test::same_bits(both.read(), apply(j, b)));
}

TEST_P(JacobiTest, BadValuesEndUpInTheResult) {
  const CsrMatrix a = test::tridiagonal(33, -1, 4, -1);
  std::vector<double> b = test::right_hand_side(a.rows);
  b[5] = std::nan("");
  for (const int sweeps : {1, 2}) {
    Jacobi j = jacobi(a, {.sweeps = sweeps});
    const std::vector<double> x = apply(j, b);
    EXPECT_TRUE(std::isnan(x[5]));
    EXPECT_EQ(std::isnan(x[6]), sweeps == 2);
    EXPECT_FALSE(std::isnan(x[8]));
  }
}

}  // namespace
}  // namespace taskdag
