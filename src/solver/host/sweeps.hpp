/// \file
/// The two triangular sweeps of a solver on host threads: made as asked for, and what their programs have done.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/host/thread_pool.hpp"
#include "dag/thread_plan.hpp"
#include "kernels/sptrsv/host/scheduled_sweep.hpp"
#include "solver/choice/request.hpp"
#include "taskdag/engine_run.hpp"
#include "taskdag/row_blocks.hpp"

namespace taskdag::host {

/// A sweep over the strict `triangle` of `pattern` by the schedule that was asked for. `blocks`: independent ones of
/// the rows, or null; an automatic schedule is theirs where each thread has enough rows of a colour to make up for a
/// barrier. `source`, `plan`, `input`: see ScheduledSweep.
kernels::ScheduledSweep make_sweep(const ScheduleRequest& request, const RowBlocks* blocks, const CsrPattern& pattern,
                                   const Offset* source, Triangle triangle, ThreadPool& pool,
                                   std::shared_ptr<const ThreadPlan> plan = nullptr,
                                   kernels::HostSweepInput input = kernels::HostSweepInput::copied);

/// Adds what the programs of two sweeps have done.
void add_runs(const std::string& prefix, const kernels::ScheduledSweep& lower, const kernels::ScheduledSweep& upper,
              std::vector<EngineRun>& runs);

}  // namespace taskdag::host
