/// \file
/// Superstep schedules by name: those of Böhnlein et al. 2025 and what they are compared with there.
#pragma once

#include "dag/supersteps/superstep_schedulers.hpp"
#include "taskdag/solve_schedule.hpp"

namespace taskdag {

/// Makes the schedule of a strict triangle on `cores` cores. kind: locking, pivotal_path, hdagg, level_set, or
/// point_to_point (the portions of level_set; find_portion_waits() makes the waits). One thread. Runs of rows are
/// tried, if at all, for barrier list schedulers; level sets are neither coarsened nor gathered.
/// @pre the pattern is square and valid @throws InvalidInput for another kind, or cores < 1, or options out of range
SuperstepSchedule make_superstep_schedule(SolveSchedule kind, const CsrPattern& pattern, Triangle triangle, int cores,
                                          const SuperstepOptions& options = {});

}  // namespace taskdag
