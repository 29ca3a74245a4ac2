// Factorisations and applications as programs of the task engine: under every scheduler and kind of dependencies they
// are right, and on the host have the bits of the library's own schedules.
#include <chrono>
#include <limits>
#include <thread>

#include "backends.hpp"
#include "backends/host/thread_pool.hpp"
#include "columns.hpp"
#include "kernels/sptrsv/host/engine/engine_sweep.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "support/device_code.hpp"
#include "support/effort.hpp"

namespace taskdag {
namespace {

using engine::Dependencies;
using engine::Scheduler;
using test::Problem;

TASKDAG_BACKEND_SUITE(EngineFactorTest, test::everywhere());

std::vector<engine::StaticOptions> all_runs() {
  std::vector<engine::StaticOptions> runs;
  for (const Scheduler scheduler :
       test::built({Scheduler::megakernel, Scheduler::timesliced, Scheduler::device_controller})) {
    for (const Dependencies dependencies : {Dependencies::ordered, Dependencies::individual, Dependencies::phases}) {
      runs.push_back({scheduler, dependencies});
    }
  }
  return runs;
}

std::string to_text(const Problem& problem, FactorKind kind, const engine::StaticOptions& run) {
  return problem.name + (kind == FactorKind::ic ? ", ic0, " : ", ilu0, ") + to_string(run.scheduler) + ", " +
         to_string(run.dependencies);
}

TEST_P(EngineFactorTest, FactorsAndApplicationsAreRight) {
  // Teams that wait for each other on fewer processors take minutes: each has a third of what one thread does, and
  // those of 2, 3 and 8 threads together all of it.
  const bool thinned = test::kSanitized || GetParam().threads > 1;
  int first = GetParam().threads % 7;
  for (const Problem& problem : test::small_problems()) {
    for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
      int number = first++;
      Factorization own = factorization(problem.a, {.kind = kind});
      ASSERT_TRUE(factor(own, problem.a.values).ok());
      const CsrMatrix expected = own.copy_factor();
      const std::vector<double> b = test::right_hand_side(problem.a.rows);
      const std::vector<double> x = apply(own, Apply::full, b);
      for (const engine::StaticOptions& run : all_runs()) {
        if (thinned && number++ % 3 != 0) continue;
        SCOPED_TRACE(to_text(problem, kind, run));
        Factorization f = factorization(
            problem.a,
            {.kind = kind, .schedule = SolveSchedule::engine, .factor_schedule = FactorSchedule::engine, .run = run});
        // Several times: what a run leaves behind is what the next one finds.
        for (int repeat = 0; repeat < 2; ++repeat) {
          ASSERT_TRUE(factor(f, problem.a.values).ok());
          const CsrMatrix computed = f.copy_factor();
          EXPECT_LE(test::factor_difference(computed, expected), test::kForwardBound);
          EXPECT_LE(test::factor_error(problem.a, computed, kind), 1.0);
          EXPECT_LE(test::difference(apply(f, Apply::full, b), x), test::kForwardBound);
          const std::vector<double> turned = apply(f, Apply::transposed, b);
          EXPECT_LE(test::difference(turned, test::reference_apply(computed, kind, true, b)), test::kForwardBound);
          if (context().backend() == Backend::host) {
            EXPECT_TRUE(test::same_bits(computed.values, expected.values));
            EXPECT_TRUE(test::same_bits(apply(f, Apply::full, b), x));
          }
          ASSERT_FALSE(HasFailure());
        }
        EXPECT_EQ(f.outcome(), SolveOutcome::success);
        if (problem.a.rows > 0) {
          EXPECT_EQ(f.info().lower_schedule, SolveSchedule::engine);
          EXPECT_EQ(f.info().upper_schedule, SolveSchedule::engine);
        }
      }
    }
  }
}

TEST_P(EngineFactorTest, APartOfAnApplicationIsASweepByItself) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 9, .ny = 8, .nz = 7});
  const std::vector<double> b = test::right_hand_side(a.rows);
  Factorization own = factorization(a, {.kind = FactorKind::ic});
  ASSERT_TRUE(factor(own, a.values).ok());
  for (const engine::StaticOptions& run : all_runs()) {
    SCOPED_TRACE(std::string(to_string(run.scheduler)) + ", " + to_string(run.dependencies));
    Factorization f = factorization(a, {.kind = FactorKind::ic, .schedule = SolveSchedule::engine, .run = run});
    ASSERT_TRUE(factor(f, a.values).ok());
    for (int repeat = 0; repeat < 3; ++repeat) {  // parts and wholes in turn do not disturb each other
      for (const Apply part : {Apply::symmetric_left, Apply::full, Apply::symmetric_right, Apply::full}) {
        EXPECT_LE(test::difference(apply(f, part, b), apply(own, part, b)), test::kForwardBound);
      }
    }
  }
}

TEST_P(EngineFactorTest, SeveralColumnsAndOneByTurns) {
  // Rows of few entries in long chains of levels, so that threads are close to each other.
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 90, .ny = 80});
  const std::vector<double> b = test::columns(a.rows, 5, a.rows);
  Factorization own = factorization(a, {.kind = FactorKind::ic});
  Factorization f = factorization(a, {.kind = FactorKind::ic, .schedule = SolveSchedule::engine});
  ASSERT_TRUE(factor(own, a.values).ok());
  ASSERT_TRUE(factor(f, a.values).ok());
  test::Array<double> in = place(b);
  for (const Apply part : {Apply::symmetric_right, Apply::symmetric_left, Apply::full}) {
    std::vector<std::vector<double>> expected;
    for (Index k = 0; k < 5; ++k) expected.push_back(apply(own, part, test::column(b, k, a.rows, a.rows)));
    for (int turn = 0; turn < 60; ++turn) {
      // Another one each time: what an application left behind must not pass for a value of the next one.
      const auto k = static_cast<Index>(turn % 5);
      ASSERT_LE(
          test::difference(apply(f, part, test::column(b, k, a.rows, a.rows)), expected[static_cast<std::size_t>(k)]),
          test::kForwardBound)
          << static_cast<int>(part) << ", turn " << turn;
      const auto count = static_cast<Index>(1 + turn * 3 % 5);
      test::Array<double> out = place(b);
      f.apply_many(part, count, in.data(), a.rows, out.data(), a.rows, space(), stream());
      const std::vector<double> x = out.read();
      for (Index c = 0; c < count; ++c) {
        ASSERT_LE(test::difference(test::column(x, c, a.rows, a.rows), expected[static_cast<std::size_t>(c)]),
                  test::kForwardBound)
            << static_cast<int>(part) << ", turn " << turn << ", column " << c << " of " << count;
      }
    }
  }
}

TEST(HostEngineSweepTest, WaitsForItsOwnRunAfterOneOfColumns) {
  // A chain: each row is a task, and the other thread has the next one at once.
  constexpr Index kRows = 300;
  const CsrMatrix a = test::tridiagonal(kRows, -1.0, 2.0, 0.0);
  host::ThreadPool pool(2);
  kernels::HostEngineSweep sweep(a.pattern(), nullptr, Triangle::lower, pool, {});
  sweep.load(a.values.data());
  const auto unit = [](Index, double value) { return value; };
  const auto nothing = [](Index, double) {};
  const std::vector<double> ones(std::size_t{4} * kRows, 1.0);
  const kernels::ColumnPass columns{.count = 4, .rhs = {.values = ones.data(), .stride = kRows}, .result = {}};
  std::vector<double> x(std::size_t{4} * kRows);
  for (int run = 0; run < 4; ++run) {
    const double b = 1.0 + run;
    const auto slow = [&](Index i) {
      if (i % 97 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return b;
    };
    ASSERT_TRUE(sweep.run(x.data(), slow, unit, nothing));
    for (Index i = 0; i < kRows; ++i) ASSERT_EQ(x[static_cast<std::size_t>(i)], b * (i + 1)) << "run " << run;
    if (run < 3) {
      ASSERT_TRUE(sweep.run_columns(x.data(), columns));
    }
  }
}

TEST_P(EngineFactorTest, BadPivotsAndNansEndAndAreReported) {
  CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 20, .ny = 15});
  const std::vector<double> b = test::right_hand_side(a.rows);
  for (const double bad : {0.0, std::numeric_limits<double>::quiet_NaN()}) {
    CsrMatrix broken = a;
    for (Offset e = broken.row_offsets[7]; e < broken.row_offsets[8]; ++e) {
      if (broken.col_indices[static_cast<std::size_t>(e)] <= 7) broken.values[static_cast<std::size_t>(e)] = bad;
    }
    Factorization own = factorization(broken, {});
    const FactorStatus expected = factor(own, broken.values);
    for (const engine::StaticOptions& run : all_runs()) {
      SCOPED_TRACE(std::string(to_string(run.scheduler)) + ", " + to_string(run.dependencies));
      Factorization f = factorization(
          broken, {.schedule = SolveSchedule::engine, .factor_schedule = FactorSchedule::engine, .run = run});
      const FactorStatus status = factor(f, broken.values);
      EXPECT_EQ(status.outcome, expected.outcome);
      EXPECT_EQ(status.first_row, expected.first_row);
      EXPECT_FALSE(status.ok());
      static_cast<void>(apply(f, Apply::full, b));
      EXPECT_EQ(f.outcome(), SolveOutcome::non_finite);
      ASSERT_TRUE(factor(f, a.values).ok());  // and good values after that
      EXPECT_TRUE(test::all_finite(apply(f, Apply::full, b)));
    }
  }
}

}  // namespace
}  // namespace taskdag
