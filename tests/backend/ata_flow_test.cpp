// TriangularOptions::ata_flow and its likes through the public classes, against the serial reference.
#include "backends.hpp"
#include "kernels/sptrsv/schedules/catalogue/catalogue.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

using test::Problem;

TASKDAG_BACKEND_SUITE(AtaFlowTest, test::device_arrays());

constexpr AtaFlow kFlows[] = {AtaFlow::pull, AtaFlow::push};

TEST_P(AtaFlowTest, TriangularSolvesAreRight) {
  for (const Problem& problem : test::small_problems()) {
    const std::vector<double> b = test::right_hand_side(problem.a.rows);
    for (const SolveSchedule schedule : kernels::kAtaPolicies) {
      for (const AtaFlow flow : kFlows) {
        for (const bool transposed : {false, true}) {
          SCOPED_TRACE(problem.name + ", " + to_string(schedule) + ", " + to_string(flow) +
                       (transposed ? ", transposed" : ""));
          const TriangularOptions options{.transposed = transposed, .schedule = schedule, .ata_flow = flow};
          TriangularSolver solver = triangular(problem.a, options);
          for (int repeat = 0; repeat < 2; ++repeat) {
            EXPECT_LE(test::triangular_error(problem.a, options, b, solve(solver, b)), 1.0);
            EXPECT_LE(test::triangular_error(problem.a, options, b, solve_in_place(solver, b)), 1.0);
          }
          EXPECT_EQ(solver.outcome(), SolveOutcome::success);
        }
      }
    }
  }
}

TEST_P(AtaFlowTest, ApplicationsAreRightToOneAndToSeveralColumns) {
  constexpr Index kColumns = 3;
  for (const Problem& problem : test::small_problems()) {
    const Index n = problem.a.rows;
    const std::vector<double> b = test::right_hand_side(kColumns * n);
    for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
      for (const SolveSchedule schedule : kernels::kAtaPolicies) {
        SCOPED_TRACE(problem.name + ", " + to_string(schedule) + (kind == FactorKind::ic ? ", ic0" : ", ilu0"));
        Factorization f = factorization(problem.a, {.kind = kind, .schedule = schedule, .ata_flow = AtaFlow::push});
        ASSERT_TRUE(factor(f, problem.a.values).ok());
        const CsrMatrix computed = f.copy_factor();
        for (const bool transposed : {false, true}) {
          test::Array<double> in = place(b);
          test::Array<double> out = place(std::vector<double>(b.size(), -7.0));
          const Apply part = transposed ? Apply::transposed : Apply::full;
          f.apply_many(part, kColumns, in.data(), n, out.data(), n, space(), stream());
          const std::vector<double> x = out.read();
          for (Index k = 0; k < kColumns; ++k) {
            const std::vector<double> column(b.begin() + k * n, b.begin() + (k + 1) * n);
            const std::vector<double> expected = test::reference_apply(computed, kind, transposed, column);
            EXPECT_LE(test::difference({x.begin() + k * n, x.begin() + (k + 1) * n}, expected), test::kForwardBound);
            EXPECT_LE(test::difference(apply(f, part, column), expected), test::kForwardBound);
          }
        }
        EXPECT_EQ(f.outcome(), SolveOutcome::success);
      }
    }
  }
}

TEST_P(AtaFlowTest, PushAddsInAnotherOrderThanPull) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 20, .ny = 20, .nz = 20});
  const std::vector<double> b = test::right_hand_side(a.rows);
  for (const SolveSchedule schedule : kernels::kAtaPolicies) {
    SCOPED_TRACE(to_string(schedule));
    TriangularSolver pull = triangular(a, {.schedule = schedule});
    TriangularSolver push = triangular(a, {.schedule = schedule, .ata_flow = AtaFlow::push});
    const std::vector<double> x = solve(pull, b);
    EXPECT_TRUE(test::same_bits(x, solve(pull, b)));
    EXPECT_FALSE(test::same_bits(x, solve(push, b)));
  }
}

}  // namespace
}  // namespace taskdag
