#include "solver/host/sweeps.hpp"

#include <utility>

#include "dag/supersteps/block_schedule.hpp"
#include "solver/host/schedule.hpp"

namespace taskdag::host {
namespace {

bool blocks_pay(const RowBlocks* blocks, int cores) {
  constexpr std::int64_t kRowsPerPortion = 250;
  if (cores == 1 || blocks == nullptr) return false;
  return blocks->rows() >= kRowsPerPortion * cores * blocks->colours();
}

}  // namespace

kernels::ScheduledSweep make_sweep(const ScheduleRequest& request, const RowBlocks* blocks, const CsrPattern& pattern,
                                   const Offset* source, Triangle triangle, ThreadPool& pool,
                                   std::shared_ptr<const ThreadPlan> plan, kernels::HostSweepInput input) {
  const SolveSchedule schedule = settle_host_schedule(request, pattern, triangle, pool);
  if (schedule == SolveSchedule::blocks ||
      (schedule == SolveSchedule::automatic && blocks_pay(blocks, pool.processors()))) {
    return {pattern,
            source,
            triangle,
            pool,
            SolveSchedule::blocks,
            make_block_schedule(*blocks, triangle, pool.processors()),
            request.precision};
  }
  return {pattern, source, triangle, pool, schedule, std::move(plan), request.run, input, request.precision};
}

void add_runs(const std::string& prefix, const kernels::ScheduledSweep& lower, const kernels::ScheduledSweep& upper,
              std::vector<EngineRun>& runs) {
  const auto add = [&](const char* what, engine::Report report) {
    if (report.slices != 0) runs.push_back({prefix + what, std::move(report)});
  };
  if (upper.by_engine() != nullptr) add("application", upper.by_engine()->report_of_both());
  if (lower.by_engine() != nullptr) add("forward sweep", lower.by_engine()->report());
  if (upper.by_engine() != nullptr) add("backward sweep", upper.by_engine()->report());
}

}  // namespace taskdag::host
