/// \file
/// The schedule of a sweep on host threads: as asked for, or found by trial solves.
#pragma once

#include "backends/host/thread_pool.hpp"
#include "solver/choice/request.hpp"
#include "taskdag/schedule.hpp"

namespace taskdag::host {

/// What `request` comes to for the strict `triangle` of a square pattern; automatic where nothing else is known.
/// @throws what settle_schedule() throws
SolveSchedule settle_host_schedule(const ScheduleRequest& request, const CsrPattern& pattern, Triangle triangle,
                                   ThreadPool& pool);

}  // namespace taskdag::host
