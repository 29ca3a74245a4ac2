#include "kernels/sptrsv/host/scheduled_sweep.hpp"

#include <optional>
#include <string>
#include <utility>

#include "dag/supersteps/faster_than_plan.hpp"
#include "dag/supersteps/superstep_schedulers.hpp"
#include "kernels/papers/papers.hpp"
#include "taskdag/error.hpp"

namespace taskdag::kernels {

namespace {

/// The schedule of that name as it is run here. Locking and p-ivotal path also look at runs of rows.
SuperstepSchedule make_schedule(SolveSchedule kind, const CsrPattern& pattern, Triangle triangle, int cores) {
  const bool list = kind == SolveSchedule::locking || kind == SolveSchedule::pivotal_path;
  const SuperstepOptions options{.try_runs = list, .gather = true};
  if (kind == SolveSchedule::locking) return make_locking_schedule(pattern, triangle, cores, options);
  if (!is_of_papers(Backend::host, kind)) throw InvalidInput("this schedule is not one of the host's");
  const std::string wanted = std::string("the schedule ") + to_string(kind);
  return papers(wanted).superstep_schedule(kind, pattern, triangle, cores, options);
}

/// Glued levels and level sets have barriers, as they were published; the others wait for portions.
bool has_barriers(SolveSchedule kind) { return kind == SolveSchedule::hdagg || kind == SolveSchedule::level_set; }

}  // namespace

bool ScheduledSweep::run_columns(double* x, const ColumnPass& pass) {
  if (pass.count > 1) {
    return std::visit([&](auto& sweep) { return sweep.run_columns(x, pass); }, sweep_);
  }
  for (Index i = 0; i < rows(); ++i) x[i] = pass.rhs.scale(i) * (pass.rhs.values == nullptr ? x[i] : *pass.rhs.row(i));
  const auto run_by = [&](const auto& pivot) {
    const auto rhs = [x](Index i) { return x[i]; };
    const auto nothing = [](Index, double) {};
    return precision_ == Precision::in_single ? run<float>(x, rhs, pivot, nothing)
                                              : run<double>(x, rhs, pivot, nothing);
  };
  const bool finite =
      pass.pivot == nullptr
          ? run_by([](Index, double value) { return value; })
          : run_by([pass](Index i, Index place, double value) { return value * pass.pivot_of(i, place); });
  for (Index i = 0; i < rows(); ++i) write_result(pass, i, x + i);
  return finite;
}

ScheduledSweep::Sweep ScheduledSweep::make(const CsrPattern& pattern, const Offset* source, Triangle triangle,
                                           host::ThreadPool& pool, SolveSchedule schedule,
                                           std::shared_ptr<const ThreadPlan> plan, const engine::StaticOptions& run,
                                           HostSweepInput input, Precision precision) {
  const auto run_supersteps = [&](const SuperstepSchedule& supersteps, bool barriers) {
    std::optional<PortionWaits> waits;
    if (!barriers) waits = find_portion_waits(supersteps, pattern, triangle);
    return Sweep(std::in_place_type<SuperstepSweep>, pattern, source, triangle, pool, supersteps, std::move(waits),
                 precision);
  };
  switch (schedule) {
    case SolveSchedule::automatic:
      if (plan == nullptr) plan = std::make_shared<const ThreadPlan>(pattern, triangle, pool.processors());
      if (const auto supersteps = find_faster_than_plan(*plan, pattern, triangle, pool.processors())) {
        return run_supersteps(*supersteps, false);
      }
      [[fallthrough]];
    case SolveSchedule::plan:
      return Sweep(std::in_place_type<HostSweep>, pattern, source, triangle, pool, std::move(plan), input, precision);
    case SolveSchedule::serial:
      return Sweep(std::in_place_type<HostSweep>, pattern, source, triangle, pool,
                   std::make_shared<const ThreadPlan>(pattern, triangle, 1), input, precision);
    case SolveSchedule::engine:
      return Sweep(std::in_place_type<HostEngineSweep>, pattern, source, triangle, pool, run, precision);
    default:
      return run_supersteps(make_schedule(schedule, pattern, triangle, pool.processors()), has_barriers(schedule));
  }
}

}  // namespace taskdag::kernels
