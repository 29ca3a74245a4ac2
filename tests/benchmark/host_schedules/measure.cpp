#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>

#include "dag/levels.hpp"
#include "dag/supersteps/cell_waits.hpp"
#include "dag/supersteps/superstep_schedulers.hpp"
#include "dag/thread_plan.hpp"
#include "kernels/sptrsv/host/planned_sweep.hpp"
#include "kernels/sptrsv/host/scheduled_sweep.hpp"

namespace taskdag::benchmark {
namespace {

template <class Action>
double wall_ms(const Action& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double compare(const std::vector<double>& x, const std::vector<double>& reference) {
  double error = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) return std::numeric_limits<double>::infinity();
    error = std::max(error, std::abs(x[i] - reference[i]));
    size = std::max(size, std::abs(reference[i]));
  }
  return size > 0.0 ? error / size : error;
}

/// run(x) solves.
template <class Run>
void time_solves(const Run& run, const System& system, int repeat, Solving& result) {
  std::vector<double> x(system.b.size());
  run(x.data());
  run(x.data());
  std::vector<double> times;
  for (int k = 0; k < repeat; ++k) {
    std::ranges::fill(x, std::numeric_limits<double>::quiet_NaN());
    times.push_back(wall_ms([&] { run(x.data()); }));
    result.error = std::max(result.error, compare(x, system.reference));
  }
  std::ranges::sort(times);
  result.median = times[times.size() / 2];
  result.lower_quartile = times[times.size() / 4];
  result.upper_quartile = times[times.size() * 3 / 4];
}

/// `make` makes the sweep in place, which cannot be moved.
template <class Sweep, class Make>
Solving solve(const Make& make, const System& system, int repeat) {
  Solving result;
  std::unique_ptr<Sweep> sweep;
  result.pack_ms = wall_ms([&] {
    sweep = make();
    sweep->load(system.a.values.data());
  });
  result.threads = sweep->threads();
  const std::vector<double> inverse(system.b.size(), 1.0);
  const auto run = [&](double* x) {
    sweep->run(
        x, [b = system.b.data()](Index i) { return b[i]; },
        [d = inverse.data()](Index, Index place, double value) { return value * d[place]; }, [](Index, double) {});
  };
  time_solves(run, system, repeat, result);
  return result;
}

/// Where it has a schedule for the triangle.
void measure_rival(const Rival& rival, const System& system, int cores, int repeat, Measurement& result) {
  const taskdag_rival_triangle triangle{system.a.rows, system.a.row_offsets.data(), system.a.col_indices.data(),
                                        system.a.values.data()};
  void* made = nullptr;
  int supersteps = 0;
  result.schedule_ms = wall_ms([&] { made = rival.schedule(&triangle, cores, &supersteps); });
  result.supersteps = supersteps;
  if (made == nullptr) return;
  const std::unique_ptr<void, decltype(rival.free)> schedule(made, rival.free);
  Solving solving;
  solving.threads = cores;
  solving.pack_ms = wall_ms([&] { rival.pack(schedule.get()); });
  time_solves([&](double* x) { rival.solve(schedule.get(), system.b.data(), x); }, system, repeat, solving);
  result.solving = solving;
}

double find_balance(const SuperstepSchedule& schedule, const CsrMatrix& a) {
  std::int64_t fullest_cells = 0;
  for (Index s = 0; s < schedule.supersteps; ++s) {
    std::int64_t fullest = 0;
    for (int c = 0; c < schedule.cores; ++c) {
      std::int64_t entries = 0;
      for (Index p = schedule.first(s, c); p < schedule.last(s, c); ++p) {
        const auto row = static_cast<std::size_t>(schedule.order[static_cast<std::size_t>(p)]);
        entries += a.row_offsets[row + 1] - a.row_offsets[row];
      }
      fullest = std::max(fullest, entries);
    }
    fullest_cells += fullest;
  }
  return fullest_cells == 0 ? 1.0
                            : static_cast<double>(a.entries()) / static_cast<double>(fullest_cells * schedule.cores);
}

}  // namespace

std::vector<Variant> list_variants() {
  return {{"serial", SolveSchedule::serial},
          {"auto", SolveSchedule::automatic},
          {"plan", SolveSchedule::plan},
          {"locking", SolveSchedule::locking},
          {"locking, no Funnel", SolveSchedule::locking, false},
          {"locking, as dealt", SolveSchedule::locking, true, false, false, false},
          {"locking, no fill-up", SolveSchedule::locking, true, false, false, true, false},
          {"locking, no reduction", SolveSchedule::locking, true, false, false, true, true, std::nullopt},
          {"locking, full reduction", SolveSchedule::locking, true, false, false, true, true, kFullReduction},
          {"locking, waits", SolveSchedule::locking, true, true},
          {"locking, runs", SolveSchedule::locking, true, false, true},
          {"locking, runs, waits", SolveSchedule::locking, true, true, true},
          {"pivotal-path", SolveSchedule::pivotal_path},
          {"pivotal-path, no Funnel", SolveSchedule::pivotal_path, false},
          {"pivotal-path, runs", SolveSchedule::pivotal_path, true, false, true},
          {"hdagg", SolveSchedule::hdagg},
          {"p2p", SolveSchedule::point_to_point, true, true},
          {"level-set", SolveSchedule::level_set}};
}

Measurement measure(const Variant& variant, const System& system, int cores, host::ThreadPool* pool, int repeat) {
  const CsrPattern pattern = system.a.pattern();
  Measurement result;
  result.wavefronts = count_levels(pattern, Triangle::lower).levels;
  if (variant.rival != nullptr) {
    if (pool != nullptr) measure_rival(*variant.rival, system, cores, repeat, result);
    return result;
  }
  if (variant.kind == SolveSchedule::serial || variant.kind == SolveSchedule::plan) {
    const int threads = variant.kind == SolveSchedule::serial ? 1 : cores;
    std::shared_ptr<const ThreadPlan> plan;
    result.schedule_ms = wall_ms([&] { plan = std::make_shared<const ThreadPlan>(pattern, Triangle::lower, threads); });
    if (pool != nullptr) {
      result.solving = solve<kernels::HostSweep>(
          [&] { return std::make_unique<kernels::HostSweep>(pattern, nullptr, Triangle::lower, *pool, plan); }, system,
          repeat);
    }
    return result;
  }
  if (variant.kind == SolveSchedule::automatic) {
    if (pool == nullptr) return result;
    std::unique_ptr<kernels::ScheduledSweep> sweep;  // chosen and packed in one go
    result.schedule_ms = wall_ms([&] {
      sweep =
          std::make_unique<kernels::ScheduledSweep>(pattern, nullptr, Triangle::lower, *pool, SolveSchedule::automatic);
    });
    result.solving = solve<kernels::ScheduledSweep>([&] { return std::move(sweep); }, system, repeat);
    return result;
  }
  SuperstepSchedule schedule;
  std::optional<CellWaits> waits;
  result.schedule_ms = wall_ms([&] {
    schedule = make_superstep_schedule(variant.kind, pattern, Triangle::lower, cores,
                                       {.try_runs = variant.runs,
                                        .fill_up = variant.fill_up,
                                        .coarsen = variant.coarsen,
                                        .gather = variant.gather,
                                        .reduction = variant.reduction});
    if (variant.waits) waits = find_cell_waits(schedule, pattern, Triangle::lower);
  });
  result.supersteps = schedule.supersteps;
  result.balance = find_balance(schedule, system.a);
  if (pool != nullptr) {
    result.solving = solve<kernels::SuperstepSweep>(
        [&] {
          return std::make_unique<kernels::SuperstepSweep>(pattern, nullptr, Triangle::lower, *pool, schedule, waits);
        },
        system, repeat);
  }
  return result;
}

}  // namespace taskdag::benchmark
