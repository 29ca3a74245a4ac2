// Triangular sweeps by supersteps on host threads: the bits of one thread, whatever the schedule and the threads.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "dag/dependencies.hpp"
#include "dag/levels.hpp"
#include "dag/split.hpp"
#include "dag/supersteps/faster_than_plan.hpp"
#include "dag/transpose.hpp"
#include "kernels/sptrsv/host/scheduled_sweep.hpp"
#include "papers/boehnlein/schedules.hpp"
#include "reference/sptrsv.hpp"
#include "support/effort.hpp"
#include "taskdag/error.hpp"
#include "taskdag/triangular.hpp"
#include "unit/patterns.hpp"

namespace taskdag {
namespace {

using kernels::HostSweep;
using kernels::HostSweepInput;
using kernels::ScheduledSweep;
using kernels::SuperstepSweep;

constexpr SolveSchedule kKinds[] = {SolveSchedule::locking, SolveSchedule::pivotal_path, SolveSchedule::hdagg,
                                    SolveSchedule::level_set, SolveSchedule::point_to_point};

SuperstepSweep make_sweep(SolveSchedule kind, const CsrMatrix& a, Triangle triangle, host::ThreadPool& pool,
                          bool with_waits) {
  const SuperstepSchedule schedule = make_superstep_schedule(kind, a.pattern(), triangle, pool.threads());
  std::optional<PortionWaits> waits;
  if (with_waits) waits = find_portion_waits(schedule, a.pattern(), triangle);
  return {a.pattern(), nullptr, triangle, pool, schedule, std::move(waits)};
}

std::vector<double> right_hand_side(Index rows) {
  std::vector<double> b(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1.0 + 0.5 * std::sin(0.7 * static_cast<double>(i));
  return b;
}

/// Scaled so that no solution grows: every row's off-diagonal entries sum up to less than 1.
CsrMatrix tame(CsrMatrix a) {
  a.values.resize(a.col_indices.size());
  for (Index i = 0; i < a.rows; ++i) {
    const Offset first = a.row_offsets[static_cast<std::size_t>(i)];
    const Offset last = a.row_offsets[static_cast<std::size_t>(i) + 1];
    for (Offset e = first; e < last; ++e) {
      a.values[static_cast<std::size_t>(e)] = std::cos(static_cast<double>(e)) / (last - first);
    }
  }
  return a;
}

template <class Sweep>
std::vector<double> solve(Sweep& sweep, const std::vector<double>& b, bool* finite = nullptr) {
  std::vector<double> x(b.size(), -1.0);
  const bool all_finite = sweep.run(
      x.data(), [&](Index i) { return b[static_cast<std::size_t>(i)]; }, [](Index, double value) { return value; },
      [](Index, double) {});
  if (finite != nullptr) *finite = all_finite;
  return x;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), sizeof(double) * a.size()) == 0);
}

std::vector<double> serial(const CsrMatrix& a, Triangle triangle, const std::vector<double>& b) {
  host::ThreadPool pool(1);
  HostSweep sweep(a.pattern(), nullptr, triangle, pool);
  sweep.load(a.values.data());
  return solve(sweep, b);
}

TEST(SuperstepSweep, GivesTheBitsOfOneThreadOnAnyNumberOfThreadsEveryTime) {
  for (const int threads : test::kSanitized ? std::vector<int>{4} : std::vector<int>{1, 2, 7}) {
    host::ThreadPool pool(threads);
    for (const test::NamedMatrix& m : test::schedule_matrices()) {
      const CsrMatrix a = tame(m.a);
      const std::vector<double> b = right_hand_side(a.rows);
      for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
        const std::vector<double> expected = serial(a, triangle, b);
        for (const SolveSchedule kind : kKinds) {
          for (const bool with_waits : {false, true}) {
            SuperstepSweep sweep = make_sweep(kind, a, triangle, pool, with_waits);
            sweep.load(a.values.data());
            EXPECT_EQ(sweep.threads(), threads);
            for (int repeat = 0; repeat < (test::kSanitized ? 2 : 3); ++repeat) {
              ASSERT_TRUE(same_bits(solve(sweep, b), expected))
                  << m.name << ", " << static_cast<int>(kind) << " on " << threads << (with_waits ? ", waits" : "");
            }
          }
        }
      }
    }
  }
}

TEST(SuperstepSweep, SolvesTheSystemOfTheReference) {
  host::ThreadPool pool(3);
  for (const test::NamedMatrix& m : test::schedule_matrices()) {
    const CsrMatrix a = tame(m.a);
    const std::vector<double> b = right_hand_side(a.rows);
    std::vector<double> expected(b.size());
    kernels::reference_sptrsv(a.view(), {.triangle = Triangle::lower, .unit_diagonal = true}, b.data(),
                              expected.data());
    SuperstepSweep sweep = make_sweep(SolveSchedule::locking, a, Triangle::lower, pool, false);
    sweep.load(a.values.data());
    const std::vector<double> x = solve(sweep, b);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], expected[i], 1e-12 * (1.0 + std::abs(expected[i])));
  }
}

TEST(SuperstepSweep, GivesRowsToPivotAndEmitAndTakesTheResultsArrayAsRightHandSide) {
  const CsrMatrix a = tame(make_stencil({.stencil = Stencil::five_point, .nx = 30, .ny = 20}));
  const std::vector<double> b = right_hand_side(a.rows);
  const auto run = [&](auto& sweep) {
    std::vector<double> x = b;
    std::vector<double> emitted(b.size(), 0.0);
    sweep.run(
        x.data(), [&](Index i) { return 2.0 * x[static_cast<std::size_t>(i)]; },
        [](Index i, double value) { return value / (1.0 + i); },
        [&](Index i, double value) { emitted[static_cast<std::size_t>(i)] += value; });
    EXPECT_EQ(x, emitted);
    return x;
  };
  host::ThreadPool pool(4);
  HostSweep natural(a.pattern(), nullptr, Triangle::upper, pool,
                    std::make_shared<ThreadPlan>(a.pattern(), Triangle::upper, 1));
  natural.load(a.values.data());
  SuperstepSweep sweep = make_sweep(SolveSchedule::pivotal_path, a, Triangle::upper, pool, false);
  sweep.load(a.values.data());
  EXPECT_TRUE(same_bits(run(sweep), run(natural)));
}

TEST(SuperstepSweep, PermutesVectorsWhoseLinesManyCoresShareAndGivesTheSameBits) {
  const CsrMatrix a = tame(make_erdos_renyi_lower(3000, 1e-3, 5));
  const std::vector<double> b = right_hand_side(a.rows);
  const std::vector<double> expected = serial(a, Triangle::lower, b);
  constexpr int kCores = 8;
  host::ThreadPool pool(kCores);
  for (const bool with_waits : {false, true}) {
    // Every level dealt row by row.
    const std::vector<Index> level = compute_levels(a.pattern(), Triangle::lower);
    Assignment assignment{1 + *std::ranges::max_element(level), {}, level};
    for (Index i = 0; i < a.rows; ++i) assignment.core.push_back(i % kCores);
    const SuperstepSchedule schedule = make_superstep_schedule(Triangle::lower, kCores, assignment);
    std::optional<PortionWaits> waits;
    if (with_waits) waits = find_portion_waits(schedule, a.pattern(), Triangle::lower);
    SuperstepSweep sweep(a.pattern(), nullptr, Triangle::lower, pool, schedule, std::move(waits));
    ASSERT_TRUE(sweep.permutes());
    sweep.load(a.values.data());
    std::vector<double> x = b;
    std::vector<double> emitted(b.size(), 0.0);
    EXPECT_TRUE(sweep.run(
        x.data(), [&](Index i) { return x[static_cast<std::size_t>(i)]; }, [](Index, double value) { return value; },
        [&](Index i, double value) { emitted[static_cast<std::size_t>(i)] += value; }));
    EXPECT_TRUE(same_bits(x, expected));
    EXPECT_TRUE(same_bits(emitted, expected));
    x[0] = std::numeric_limits<double>::infinity();
    EXPECT_FALSE(sweep.run(
        x.data(), [&](Index i) { return x[static_cast<std::size_t>(i)]; }, [](Index, double value) { return value; },
        [](Index, double) {}));
  }
  EXPECT_FALSE(make_sweep(SolveSchedule::level_set, tame(test::chain(100)), Triangle::lower, pool, false).permutes());
}

TEST(ScheduledSweep, GivesPivotTheRowsPlace) {
  const CsrMatrix a = tame(make_stencil({.stencil = Stencil::seven_point, .nx = 20, .ny = 20, .nz = 20}));
  host::ThreadPool pool(2);
  for (const SolveSchedule kind : solve_schedules(Backend::host)) {
    ScheduledSweep sweep(a.pattern(), nullptr, Triangle::upper, pool, kind);
    sweep.load(a.values.data());
    std::vector<double> x(static_cast<std::size_t>(a.rows));
    std::vector<Index> row_at(x.size(), -1);
    sweep.run(
        x.data(), [](Index) { return 1.0; },
        [&](Index row, Index place, double value) {
          row_at[static_cast<std::size_t>(place)] = row;
          return value;
        },
        [](Index, double) {});
    for (Index p = 0; p < a.rows; ++p)
      ASSERT_EQ(row_at[static_cast<std::size_t>(p)], sweep.order()[p]) << to_string(kind);
  }
}

TEST(HostSweep, ReadsWhatIsLentWhereItStandsWithTheSameBits) {
  const CsrMatrix whole = tame(test::load_bundled("jpwh_991"));
  const std::vector<double> b = right_hand_side(whole.rows);
  const SplitPattern parts = split(whole.pattern());
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    const CsrPattern lent = triangle == Triangle::lower ? parts.lower() : parts.upper();
    std::vector<double> values;
    for (Index i = 0; i < whole.rows; ++i) {
      const auto columns = dependencies(whole.pattern(), triangle, i);
      const auto first = columns.data() - whole.col_indices.data();
      values.insert(values.end(), whole.values.begin() + first, whole.values.begin() + first + std::ssize(columns));
    }
    std::vector<Offset> backwards(values.size());  // a source that is not the identity
    const std::vector<double> reversed(values.rbegin(), values.rend());
    for (std::size_t e = 0; e < backwards.size(); ++e) backwards[e] = static_cast<Offset>(backwards.size() - 1 - e);
    const std::vector<double> expected = serial(whole, triangle, b);
    for (const int threads : {1, 3}) {
      host::ThreadPool pool(threads);
      for (const bool with_source : {false, true}) {
        HostSweep sweep(lent, with_source ? backwards.data() : nullptr, triangle, pool, nullptr, HostSweepInput::lent);
        sweep.load(with_source ? reversed.data() : values.data());
        EXPECT_EQ(sweep.entries(), lent.entries());
        EXPECT_TRUE(same_bits(solve(sweep, b), expected));
        std::vector<double> two = b;
        two.resize(2 * b.size());
        std::vector<double> columns(2 * b.size());
        sweep.run_columns(columns.data(),
                          {.count = 2, .rhs = {.values = two.data(), .stride = std::ssize(b)}, .result = {}});
        for (std::size_t i = 0; i < b.size(); ++i) ASSERT_EQ(columns[2 * i], expected[i]);
      }
    }
  }
}

TEST(SuperstepSweep, FindsValuesWhereTheSourceSays) {
  const CsrMatrix a = tame(test::load_bundled("jpwh_991"));
  const Transposed t = transpose(a.pattern());
  CsrMatrix copy{t.rows, t.cols, t.row_offsets, t.col_indices, {}};
  for (const Offset e : t.source_entry) copy.values.push_back(a.values[static_cast<std::size_t>(e)]);
  host::ThreadPool pool(2);
  const SuperstepSchedule schedule = make_superstep_schedule(SolveSchedule::hdagg, t.view(), Triangle::lower, 2);
  SuperstepSweep sweep(t.view(), t.source_entry.data(), Triangle::lower, pool, schedule);
  sweep.load(a.values.data());
  const std::vector<double> b = right_hand_side(a.rows);
  EXPECT_TRUE(same_bits(solve(sweep, b), serial(copy, Triangle::lower, b)));
}

TEST(SuperstepSweep, EndsOnNumbersThatAreNotFiniteAndReportsThem) {
  const CsrMatrix a = tame(make_stencil({.stencil = Stencil::five_point, .nx = 40, .ny = 30}));
  host::ThreadPool pool(3);
  for (const bool with_waits : {false, true}) {
    SuperstepSweep sweep = make_sweep(SolveSchedule::locking, a, Triangle::lower, pool, with_waits);
    sweep.load(a.values.data());
    std::vector<double> b = right_hand_side(a.rows);
    bool finite = false;
    static_cast<void>(solve(sweep, b, &finite));
    EXPECT_TRUE(finite);
    b[17] = std::numeric_limits<double>::quiet_NaN();
    const std::vector<double> x = solve(sweep, b, &finite);
    EXPECT_FALSE(finite);
    EXPECT_TRUE(std::isnan(x[17]));
    EXPECT_TRUE(std::isnan(x.back()));
  }
}

TEST(SuperstepSweep, RunsInAForkedChildToo) {
  const CsrMatrix a = tame(make_stencil({.stencil = Stencil::five_point, .nx = 40, .ny = 30}));
  const std::vector<double> b = right_hand_side(a.rows);
  host::ThreadPool pool(3);
  for (const bool with_waits : {false, true}) {
    SuperstepSweep sweep = make_sweep(SolveSchedule::locking, a, Triangle::lower, pool, with_waits);
    sweep.load(a.values.data());
    const std::vector<double> expected = solve(sweep, b);
    const pid_t child = fork();
    if (child == 0) _exit(!pool.concurrent() && same_bits(solve(sweep, b), expected) ? 0 : 1);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
}

TEST(ScheduledSweep, RunsEveryScheduleOfTheHost) {
  const CsrMatrix a = tame(make_stencil({.stencil = Stencil::seven_point, .nx = 20, .ny = 20, .nz = 20}));
  const std::vector<double> b = right_hand_side(a.rows);
  host::ThreadPool pool(4);
  const std::vector<double> expected = serial(a, Triangle::lower, b);
  for (const SolveSchedule kind : solve_schedules(Backend::host)) {
    SCOPED_TRACE(to_string(kind));
    ScheduledSweep sweep(a.pattern(), nullptr, Triangle::lower, pool, kind);
    sweep.load(a.values.data());
    EXPECT_TRUE(same_bits(solve(sweep, b), expected));
    EXPECT_EQ(sweep.rows(), a.rows);
    EXPECT_EQ(sweep.entries(), (a.entries() - a.rows) / 2);
    EXPECT_EQ(sweep.level_count().levels, 58);
    EXPECT_GT(sweep.bytes(), 12 * sweep.entries());
    if (kind == SolveSchedule::automatic) {
      EXPECT_EQ(sweep.schedule(), sweep.threads() > 1 ? SolveSchedule::plan : SolveSchedule::serial);
    } else {
      EXPECT_EQ(sweep.schedule(), kind);
    }
    if (kind == SolveSchedule::serial) {
      EXPECT_EQ(sweep.threads(), 1);
    }
    if (kind == SolveSchedule::locking) {
      EXPECT_EQ(sweep.threads(), pool.processors());
    }
  }
}

TEST(ScheduledSweep, TakesLockingWhereItIsFasterThanThePlan) {
  for (const CsrMatrix& made : {make_narrow_band_lower(30000, 0.14, 10, 1), make_erdos_renyi_lower(20000, 5e-4, 1)}) {
    const CsrMatrix a = tame(made);
    const std::vector<double> b = right_hand_side(a.rows);
    host::ThreadPool pool(16);
    ScheduledSweep sweep(a.pattern(), nullptr, Triangle::lower, pool, SolveSchedule::automatic);
    sweep.load(a.values.data());
    EXPECT_TRUE(same_bits(solve(sweep, b), serial(a, Triangle::lower, b)));
    const ThreadPlan plan(a.pattern(), Triangle::lower, pool.processors());
    const bool faster = find_faster_than_plan(plan, a.pattern(), Triangle::lower, pool.processors()).has_value();
    EXPECT_EQ(sweep.schedule(), faster               ? SolveSchedule::locking
                                : plan.threads() > 1 ? SolveSchedule::plan
                                                     : SolveSchedule::serial);
  }
}

TEST(HostTriangular, GivesTheSameBitsUnderEverySchedule) {
  const Context context = Context::create({.backend = Backend::host, .threads = 4});
  for (const char* name : {"orsreg_1", "ex6", "add32"}) {
    const CsrMatrix a = test::load_bundled(name);
    const std::vector<double> b = right_hand_side(a.rows);
    for (const bool transposed : {false, true}) {
      for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
        TriangularOptions options{triangle, false, transposed, SolveSchedule::serial};
        TriangularSolver natural(context, a.view(), MemorySpace::host, options);
        std::vector<double> expected(b.size());
        natural.solve(b.data(), expected.data(), MemorySpace::host);
        for (const SolveSchedule kind : solve_schedules(Backend::host)) {
          SCOPED_TRACE(std::string(name) + ", " + to_string(kind));
          options.schedule = kind;
          TriangularSolver solver(context, a.view(), MemorySpace::host, options);
          std::vector<double> x = b;
          solver.solve(x.data(), x.data(), MemorySpace::host);
          EXPECT_TRUE(same_bits(x, expected));
          if (kind != SolveSchedule::automatic) {
            EXPECT_EQ(solver.info().schedule, kind);
          }
        }
      }
    }
  }
}

TEST(HostTriangular, RefusesSchedulesOfCudaAndNamesItsOwn) {
  const Context context = Context::create({.backend = Backend::host, .threads = 2});
  const CsrMatrix a = test::diagonal(3);
  try {
    const TriangularSolver solver(context, a.view(), MemorySpace::host, {.schedule = SolveSchedule::cells});
    FAIL() << "a schedule of CUDA was taken";
  } catch (const InvalidInput& error) {
    for (const SolveSchedule kind : solve_schedules(Backend::host)) {
      EXPECT_NE(std::string(error.what()).find(to_string(kind)), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace taskdag
