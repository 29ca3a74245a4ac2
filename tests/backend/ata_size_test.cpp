// TriangularOptions::ata_size and its likes through the public classes. How many tasks there are shows in the memory
// held; results do not depend on it.
#include "kernels/sptrsv/schedules/catalogue/catalogue.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "sor_fixture.hpp"

namespace taskdag {
namespace {

using test::Problem;

class AtaSizeTest : public test::SorBackendTest {};
INSTANTIATE_TEST_SUITE_P(On, AtaSizeTest, testing::ValuesIn(test::device_arrays()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

constexpr AtaSize kSizes[] = {AtaSize::equations, AtaSize::warps_and_levels};
constexpr FactorSchedule kFactorPolicies[] = {FactorSchedule::ata_concurrency, FactorSchedule::ata_locality,
                                              FactorSchedule::ata_greedy};

/// Rows for several tasks by warps and levels.
CsrMatrix many_rows() { return make_stencil({.stencil = Stencil::five_point, .nx = 400, .ny = 400}); }

TEST_P(AtaSizeTest, TriangularSolvesGiveTheSameBits) {
  const CsrMatrix a = many_rows();
  const std::vector<double> b = test::right_hand_side(a.rows);
  for (const SolveSchedule schedule : kernels::kAtaPolicies) {
    SCOPED_TRACE(to_string(schedule));
    std::vector<double> first;
    for (const AtaSize size : kSizes) {
      const TriangularOptions options{.schedule = schedule, .ata_size = size};
      TriangularSolver solver = triangular(a, options);
      const std::vector<double> x = solve(solver, b);
      EXPECT_LE(test::triangular_error(a, options, b, x), 1.0) << to_string(size);
      if (first.empty()) first = x;
      EXPECT_TRUE(test::same_bits(x, first)) << to_string(size);
    }
  }
}

TEST_P(AtaSizeTest, FactorsMatchTheReference) {
  for (const Problem& problem : test::small_problems()) {
    for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
      FactorStatus status;
      const CsrMatrix expected = test::reference_factor(problem.a, {.kind = kind}, 0.0, status);
      for (const FactorSchedule schedule : kFactorPolicies) {
        SCOPED_TRACE(problem.name + ", " + to_string(schedule) + (kind == FactorKind::ic ? ", ic0" : ", ilu0"));
        Factorization f = factorization(
            problem.a, {.kind = kind, .factor_schedule = schedule, .ata_size = AtaSize::warps_and_levels});
        ASSERT_TRUE(factor(f, problem.a.values).ok());
        EXPECT_LE(test::factor_difference(f.copy_factor(), expected), test::kForwardBound);
      }
    }
  }
}

// Greedy's S is not timed, by either rule.
TEST_P(AtaSizeTest, OfEachSolverArrives) {
  constexpr AtaSize kOther = AtaSize::warps_and_levels;
  constexpr SolveSchedule kSweeps = SolveSchedule::ata_greedy;
  constexpr FactorSchedule kFactor = FactorSchedule::ata_greedy;
  const CsrMatrix a = many_rows();
  const auto of_sweep = [&](AtaSize size) {
    return triangular(a, {.schedule = kSweeps, .ata_size = size}).info().bytes;
  };
  const auto of_sor = [&](AtaSize size) { return make(a, {.schedule = kSweeps, .ata_size = size}).info().bytes; };
  EXPECT_NE(of_sweep(kOther), of_sweep(AtaSize::equations));
  EXPECT_NE(of_sor(kOther), of_sor(AtaSize::equations));
  for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
    SCOPED_TRACE(kind == FactorKind::ic ? "ic0" : "ilu0");
    const auto of_sweeps = [&](AtaSize size) {
      return factorization(a, {.kind = kind, .schedule = kSweeps, .ata_size = size}).info().bytes;
    };
    const auto of_factor = [&](AtaSize size) {
      return factorization(a, {.kind = kind, .factor_schedule = kFactor, .ata_size = size}).info().bytes;
    };
    EXPECT_NE(of_sweeps(kOther), of_sweeps(AtaSize::equations));
    EXPECT_NE(of_factor(kOther), of_factor(AtaSize::equations));
  }
}

}  // namespace
}  // namespace taskdag
