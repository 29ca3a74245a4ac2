// Triangular solves on both backends.
#include "backends.hpp"
#include "measure.hpp"
#include "problems.hpp"

namespace taskdag {
namespace {

using test::Problem;

TASKDAG_BACKEND_SUITE(TriangularTest, test::everywhere());

std::vector<TriangularOptions> all_options() {
  std::vector<TriangularOptions> result;
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    for (const bool unit : {false, true}) {
      for (const bool transposed : {false, true}) result.push_back({triangle, unit, transposed});
    }
  }
  return result;
}

std::string to_text(const TriangularOptions& options) {
  return std::string(options.triangle == Triangle::lower ? "lower" : "upper") +
         (options.unit_diagonal ? ", unit diagonal" : "") + (options.transposed ? ", transposed" : "");
}

TEST_P(TriangularTest, SolvesMatchTheReference) {
  for (const Problem& problem : test::small_problems()) {
    for (const TriangularOptions& options : all_options()) {
      SCOPED_TRACE(problem.name + ", " + to_text(options));
      TriangularSolver solver = triangular(problem.a, options);
      const std::vector<double> b = test::right_hand_side(problem.a.rows);
      const std::vector<double> x = solve(solver, b);
      // With a unit diagonal some of the matrices let x grow without bound: then both overflow.
      const std::vector<double> expected = test::reference_solve(problem.a, options, b);
      ASSERT_EQ(test::all_finite(x), test::all_finite(expected));
      EXPECT_EQ(solver.outcome(), test::all_finite(x) ? SolveOutcome::success : SolveOutcome::non_finite);
      if (!test::all_finite(x)) continue;
      EXPECT_LE(test::triangular_error(problem.a, options, b, x), 1.0);
      if (options.unit_diagonal) continue;  // dominant diagonals make these well conditioned
      EXPECT_LE(test::difference(x, expected), test::kForwardBound);
    }
  }
}

TEST_P(TriangularTest, RandomTrianglesAreSolvedBackwardStably) {
  int solved = 0;
  for (const Problem& problem : test::random_triangles()) {
    for (const bool transposed : {false, true}) {
      SCOPED_TRACE(problem.name + (transposed ? ", transposed" : ""));
      const TriangularOptions options{.transposed = transposed};
      TriangularSolver solver = triangular(problem.a, options);
      const std::vector<double> b = test::right_hand_side(problem.a.rows);
      const std::vector<double> x = solve(solver, b);
      if (!test::all_finite(test::reference_solve(problem.a, options, b))) continue;
      EXPECT_LE(test::triangular_error(problem.a, options, b, x), 1.0);
      ++solved;
    }
  }
  EXPECT_GE(solved, 4);
}

TEST_P(TriangularTest, RepeatedSolvesGiveTheSameBits) {
  for (const Problem& problem : test::small_problems()) {
    SCOPED_TRACE(problem.name);
    TriangularSolver solver = triangular(problem.a, {});
    TriangularSolver another = triangular(problem.a, {});
    const std::vector<double> b = test::right_hand_side(problem.a.rows);
    const std::vector<double> x = solve(solver, b);
    for (int repeat = 0; repeat < 5; ++repeat) EXPECT_TRUE(test::same_bits(solve(solver, b), x));
    EXPECT_TRUE(test::same_bits(solve(another, b), x));
    EXPECT_TRUE(test::same_bits(solve_in_place(solver, b), x));
  }
}

TEST_P(TriangularTest, UpdatedValuesEqualAFreshAnalysis) {
  for (const Problem& problem : test::small_problems()) {
    for (const bool transposed : {false, true}) {
      SCOPED_TRACE(problem.name + (transposed ? ", transposed" : ""));
      CsrMatrix other = problem.a;
      other.values = test::other_values(problem.a.values);
      TriangularSolver solver = triangular(problem.a, {.transposed = transposed});
      TriangularSolver fresh = triangular(other, {.transposed = transposed});
      const std::vector<double> b = test::right_hand_side(problem.a.rows);
      static_cast<void>(solve(solver, b));
      test::Array<double> values = place(other.values);
      solver.update_values(values.data(), space(), stream());
      EXPECT_TRUE(test::same_bits(solve(solver, b), solve(fresh, b)));
    }
  }
}

TEST_P(TriangularTest, InfoCountsLevelsAndEntries) {
  const TriangularSolver chain = triangular(test::tridiagonal(1025, -0.5, 1, 0), {});
  EXPECT_EQ(chain.info().rows, 1025);
  EXPECT_EQ(chain.info().entries, 1024);
  EXPECT_EQ(chain.info().levels, 1025);
  EXPECT_EQ(chain.info().widest_level, 1);
  EXPECT_GT(chain.info().bytes, 0);
  const TriangularSolver diagonal = triangular(test::tridiagonal(33, 0, 3, 0), {});
  EXPECT_EQ(diagonal.info().entries, 0);
  EXPECT_EQ(diagonal.info().levels, 1);
  EXPECT_EQ(diagonal.info().widest_level, 33);
  const CsrMatrix arrow = test::arrow(50);
  EXPECT_EQ(triangular(arrow, {.triangle = Triangle::upper, .transposed = true}).info().levels, 2);
  const TriangularSolver grid = triangular(make_stencil({.stencil = Stencil::five_point, .nx = 7, .ny = 5}), {});
  EXPECT_EQ(grid.info().levels, 11);
  EXPECT_EQ(grid.info().widest_level, 5);
  EXPECT_EQ(triangular(CsrMatrix(), {}).info().levels, 0);
}

TEST_P(TriangularTest, SolversCanBeMoved) {
  const CsrMatrix a = test::tridiagonal(33, -1, 3, -1);
  const std::vector<double> b = test::right_hand_side(33);
  TriangularSolver first = triangular(a, {});
  const std::vector<double> x = solve(first, b);
  TriangularSolver second = std::move(first);
  EXPECT_TRUE(test::same_bits(solve(second, b), x));
}

}  // namespace
}  // namespace taskdag
