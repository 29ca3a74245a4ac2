#include "solver/host/schedule.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "base/hash.hpp"
#include "dag/dependencies.hpp"
#include "dag/levels.hpp"
#include "kernels/papers/papers.hpp"
#include "kernels/sptrsv/host/scheduled_sweep.hpp"
#include "kernels/sptrsv/schedules/catalogue/catalogue.hpp"
#include "solver/choice/require_schedule.hpp"

namespace taskdag::host {

namespace {

constexpr int kTimedSolves = 3;

TuneKey key_of(const ScheduleRequest& request, const CsrPattern& pattern, Triangle triangle) {
  TuneKey key;
  key.device = request.device;
  key.triangle = triangle;
  key.rows = pattern.rows;
  key.levels = count_levels(pattern, triangle).levels;
  for (Index i = 0; i < pattern.rows; ++i) {
    for (const Index j : dependencies(pattern, triangle, i)) {
      ++key.entries;
      key.pattern += hash_of_entry(i, j);
    }
  }
  return key;
}

/// The least of some solves after one that does not count. The values are zeros: the time does not depend on them.
/// Value: as in HostSweep::run().
template <class Value>
double microseconds(kernels::ScheduledSweep& sweep, const std::vector<double>& zeros, std::vector<double>& x) {
  using Clock = std::chrono::steady_clock;
  sweep.load(zeros.data());
  double least = std::numeric_limits<double>::max();
  for (int k = 0; k <= kTimedSolves; ++k) {
    const auto begin = Clock::now();
    sweep.run<Value>(
        x.data(), [](Index) { return 0.0; }, [](Index, double value) { return value; }, [](Index, double) {});
    const std::chrono::duration<double, std::micro> took = Clock::now() - begin;
    if (k > 0) least = std::min(least, took.count());
  }
  return least;
}

TrialResult fastest(const CsrPattern& pattern, Triangle triangle, ThreadPool& pool, Precision precision) {
  TrialResult best{{}, std::numeric_limits<double>::max()};
  const std::vector<double> zeros(static_cast<std::size_t>(pattern.entries()));
  std::vector<double> x(static_cast<std::size_t>(pattern.rows));
  for (const SolveSchedule schedule : solve_schedules(Backend::host)) {
    if (schedule == SolveSchedule::automatic) continue;  // one of the others
    if (kernels::row_of(schedule).host == ScheduleRole::study) continue;
    if (kernels::is_of_papers(Backend::host, schedule) && !kernels::has_papers()) continue;
    if (!has_precision(Backend::host, schedule, precision)) continue;
    kernels::ScheduledSweep sweep(pattern, nullptr, triangle, pool, schedule, nullptr, {},
                                  kernels::HostSweepInput::copied, precision);
    const double took = precision == Precision::in_single ? microseconds<float>(sweep, zeros, x)
                                                          : microseconds<double>(sweep, zeros, x);
    if (took < best.microseconds) best = {{schedule}, took};
  }
  return best;
}

}  // namespace

SolveSchedule settle_host_schedule(const ScheduleRequest& request, const CsrPattern& pattern, Triangle triangle,
                                   ThreadPool& pool) {
  return settle_schedule(
             request, SolveSchedule::automatic, [&] { return key_of(request, pattern, triangle); },
             [&] { return fastest(pattern, triangle, pool, request.precision); })
      .schedule;
}

}  // namespace taskdag::host
