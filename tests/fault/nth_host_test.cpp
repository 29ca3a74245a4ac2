// Host memory that fails: the first, second, … allocation of each public call, on host threads.
#include <gtest/gtest.h>

#include "fault/failing_new.hpp"
#include "fault/nth_failure.hpp"
#include "support/effort.hpp"

namespace taskdag {
namespace {

// Sanitized: a share of the failures.
constexpr std::int64_t kMost = test::kSanitized ? 8 : 400;

class NthHostFailure : public testing::TestWithParam<int> {
 protected:
  NthHostFailure() : context_(Context::create({.backend = Backend::host, .threads = GetParam()})) {}
  [[nodiscard]] test::Site site() const { return {&context_, nullptr}; }
  void expect_to_survive(const std::vector<test::Call>& calls) {
    EXPECT_GT(test::expect_to_survive(calls, fault_, kMost), 0) << "nothing has failed";
  }

 private:
  test::FailingNew fault_;
  Context context_;
};

#if defined(__SANITIZE_THREAD__)
constexpr int kThreads[] = {3};  // one races with nobody
#else
constexpr int kThreads[] = {1, 3};
#endif
INSTANTIATE_TEST_SUITE_P(Threads, NthHostFailure, testing::ValuesIn(kThreads));

TEST_P(NthHostFailure, Context) { expect_to_survive(test::context_calls(GetParam())); }

TEST_P(NthHostFailure, TriangularSolver) {
  for (const SolveSchedule schedule : solve_schedules(Backend::host)) {
    SCOPED_TRACE(to_string(schedule));
    expect_to_survive(test::triangular_calls(site(), schedule));
  }
}

TEST_P(NthHostFailure, Factorization) {
  for (const SolveSchedule schedule : test::factor_schedules(Backend::host)) {
    for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
      SCOPED_TRACE(to_string(schedule));
      expect_to_survive(test::factor_calls(site(), kind, schedule));
    }
  }
}

TEST_P(NthHostFailure, Sor) {
  for (const SolveSchedule schedule : test::factor_schedules(Backend::host)) {
    SCOPED_TRACE(to_string(schedule));
    expect_to_survive(test::sor_calls(site(), schedule));
  }
}

TEST_P(NthHostFailure, PointBlocks) { expect_to_survive(test::point_block_calls(site())); }
TEST_P(NthHostFailure, ShiftsAndFill) { expect_to_survive(test::factor_form_calls(site())); }

TEST_P(NthHostFailure, Tuning) { expect_to_survive(test::tuning_calls(site())); }

TEST_P(NthHostFailure, Jacobi) { expect_to_survive(test::jacobi_calls(site())); }
TEST_P(NthHostFailure, BlockJacobi) { expect_to_survive(test::block_jacobi_calls(site())); }

TEST_P(NthHostFailure, Orderings) { expect_to_survive(test::ordering_calls(site())); }

}  // namespace
}  // namespace taskdag
