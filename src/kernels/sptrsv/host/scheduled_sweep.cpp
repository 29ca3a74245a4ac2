#include "kernels/sptrsv/host/scheduled_sweep.hpp"

#include <optional>
#include <utility>

#include "dag/superstep_schedulers.hpp"

namespace taskdag::kernels {

ScheduledSweep::Sweep ScheduledSweep::make(const CsrPattern& pattern, const Offset* source, Triangle triangle,
                                           host::ThreadPool& pool, SolveSchedule schedule,
                                           std::shared_ptr<const ThreadPlan> plan) {
  switch (schedule) {
    case SolveSchedule::serial:
      plan = std::make_shared<const ThreadPlan>(pattern, triangle, 1);
      [[fallthrough]];
    case SolveSchedule::automatic:
    case SolveSchedule::plan:
      return Sweep(std::in_place_type<HostSweep>, pattern, source, triangle, pool, std::move(plan));
    default: {
      const SuperstepSchedule supersteps = make_superstep_schedule(schedule, pattern, triangle, pool.processors());
      std::optional<CellWaits> waits;
      if (schedule == SolveSchedule::point_to_point) waits = find_cell_waits(supersteps, pattern, triangle);
      return Sweep(std::in_place_type<SuperstepSweep>, pattern, source, triangle, pool, supersteps, std::move(waits));
    }
  }
}

}  // namespace taskdag::kernels
