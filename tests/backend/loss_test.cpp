// Schedules that rewrite rows are given up where they would lose much more than rounding leaves.
#include <string>

#include "backends.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

TASKDAG_BACKEND_SUITE(LossTest, test::device_arrays());

/// Supernodes of three rows.
CsrMatrix nodes() {
  return make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 5, .ny = 5, .nz = 5, .unknowns_per_node = 3});
}

/// The same with `coupling` in the lower triangles of their blocks, a unit diagonal, nothing above it, and all else
/// times `outside`.
CsrMatrix coupled_nodes(double coupling, double outside) {
  CsrMatrix a = nodes();
  for (Index i = 0; i < a.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (auto e = static_cast<std::size_t>(a.row_offsets[row]); e < static_cast<std::size_t>(a.row_offsets[row + 1]);
         ++e) {
      const Index j = a.col_indices[e];
      if (j / 3 == i / 3) {
        a.values[e] = j < i ? coupling : (j == i ? 1.0 : 0.0);
      } else {
        a.values[e] *= outside;
      }
    }
  }
  return a;
}

/// 5-point, rows of even levels with `diagonal`.
CsrMatrix small_pivots(double diagonal) {
  constexpr Index kSide = 24;
  CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = kSide, .ny = kSide});
  for (Index i = 0; i < a.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (auto e = static_cast<std::size_t>(a.row_offsets[row]); e < static_cast<std::size_t>(a.row_offsets[row + 1]);
         ++e) {
      if (a.col_indices[e] == i && (i / kSide + i % kSide) % 2 == 0) a.values[e] = diagonal;
    }
  }
  return a;
}

struct Case {
  SolveSchedule schedule;
  CsrMatrix harmless;
  CsrMatrix harmful;
};

std::vector<Case> cases() {
  return {{SolveSchedule::supernodes, nodes(), coupled_nodes(300.0, 1.0)},
          {SolveSchedule::joined_levels, small_pivots(4.0), small_pivots(1e-4)}};
}

TEST_P(LossTest, RowsAreKeptWhereRewritingLosesTooMuch) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(to_string(c.schedule));
    TriangularOptions options;
    options.schedule = c.schedule;
    const std::vector<double> b = test::right_hand_side(c.harmless.rows);

    TriangularSolver solver = triangular(c.harmless, options);
    EXPECT_EQ(solver.info().schedule, c.schedule);
    EXPECT_EQ(solver.info().given_up_loss, 0.0);

    test::Array<double> values = place(c.harmful.values);
    solver.update_values(values.data(), space(), stream());
    EXPECT_NE(solver.info().schedule, c.schedule);
    EXPECT_GT(solver.info().given_up_loss, 64.0);
    EXPECT_LE(test::triangular_error(c.harmful, options, b, solve(solver, b)), 1.0);

    // For good: values that come later are right, too.
    test::Array<double> again = place(c.harmless.values);
    solver.update_values(again.data(), space(), stream());
    EXPECT_LE(test::triangular_error(c.harmless, options, b, solve(solver, b)), 1.0);

    TriangularSolver from_the_start = triangular(c.harmful, options);
    EXPECT_GT(from_the_start.info().given_up_loss, 64.0);
    EXPECT_LE(test::triangular_error(c.harmful, options, b, solve(from_the_start, b)), 1.0);
  }
}

TEST_P(LossTest, FactorsAreKeptWhereRewritingLosesTooMuch) {
  const CsrMatrix harmless = nodes();
  const CsrMatrix harmful = coupled_nodes(300.0, 1e-3);  // L's blocks are those of the matrix, nearly
  FactorOptions options;
  options.schedule = SolveSchedule::supernodes;
  const std::vector<double> b = test::right_hand_side(harmless.rows);
  Factorization f = factorization(harmless, options);
  ASSERT_TRUE(factor(f, harmless.values).ok());
  EXPECT_EQ(f.info().lower_schedule, SolveSchedule::supernodes);
  EXPECT_LE(test::apply_error(f.copy_factor(), FactorKind::ilu, true, b, apply(f, Apply::transposed, b)), 1.0);
  ASSERT_TRUE(factor(f, harmful.values).ok());
  EXPECT_GT(f.info().given_up_loss, 64.0);
  EXPECT_NE(f.info().lower_schedule, SolveSchedule::supernodes);
  EXPECT_LE(test::apply_error(f.copy_factor(), FactorKind::ilu, false, b, apply(f, Apply::full, b)), 1.0);
  EXPECT_LE(test::apply_error(f.copy_factor(), FactorKind::ilu, true, b, apply(f, Apply::transposed, b)), 1.0);
}

}  // namespace
}  // namespace taskdag
