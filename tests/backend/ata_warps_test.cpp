// TriangularOptions::ata_rows_share_warps and its likes through the public classes. What a warp runs shows in the
// memory held.
#include "kernels/sptrsv/schedules/catalogue/catalogue.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "sor_fixture.hpp"

namespace taskdag {
namespace {

using test::Problem;

class AtaWarpsTest : public test::SorBackendTest {};
INSTANTIATE_TEST_SUITE_P(On, AtaWarpsTest, testing::ValuesIn(test::device_arrays()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

constexpr SolveSchedule kSharing[] = {SolveSchedule::level_launch,  SolveSchedule::level_graph,
                                      SolveSchedule::level_barrier, SolveSchedule::ata_concurrency,
                                      SolveSchedule::ata_locality,  SolveSchedule::ata_greedy};

TEST_P(AtaWarpsTest, TriangularSolvesAreRightWithAWarpARow) {
  for (const Problem& problem : test::small_problems()) {
    const std::vector<double> b = test::right_hand_side(problem.a.rows);
    for (const SolveSchedule schedule : kSharing) {
      for (const bool transposed : {false, true}) {
        SCOPED_TRACE(problem.name + ", " + to_string(schedule) + (transposed ? ", transposed" : ""));
        const TriangularOptions options{.transposed = transposed, .schedule = schedule, .ata_rows_share_warps = false};
        TriangularSolver solver = triangular(problem.a, options);
        EXPECT_LE(test::triangular_error(problem.a, options, b, solve(solver, b)), 1.0);
        EXPECT_EQ(solver.outcome(), SolveOutcome::success);
      }
    }
  }
}

// Greedy's S is not timed: what is held is the same from analysis to analysis.
TEST_P(AtaWarpsTest, OfEachSolverArrives) {
  constexpr SolveSchedule kSweeps[] = {SolveSchedule::level_launch, SolveSchedule::ata_greedy};
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 50, .ny = 50});
  for (const SolveSchedule schedule : kSweeps) {
    SCOPED_TRACE(to_string(schedule));
    const auto of_sweep = [&](bool share) {
      return triangular(a, {.schedule = schedule, .ata_rows_share_warps = share}).info().bytes;
    };
    const auto of_sor = [&](bool share) {
      return make(a, {.schedule = schedule, .ata_rows_share_warps = share}).info().bytes;
    };
    EXPECT_LT(of_sweep(true), of_sweep(false));
    EXPECT_LT(of_sor(true), of_sor(false));
    for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
      const auto of_sweeps = [&](bool share) {
        return factorization(a, {.kind = kind, .schedule = schedule, .ata_rows_share_warps = share}).info().bytes;
      };
      EXPECT_LT(of_sweeps(true), of_sweeps(false)) << (kind == FactorKind::ic ? "ic0" : "ilu0");
    }
  }
}

}  // namespace
}  // namespace taskdag
