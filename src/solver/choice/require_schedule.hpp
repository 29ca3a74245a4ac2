/// \file
/// The check that a schedule belongs to a backend.
#pragma once

#include "taskdag/context.hpp"
#include "taskdag/precision.hpp"
#include "taskdag/solve_schedule.hpp"

namespace taskdag {

/// @throws InvalidInput with the names of this backend's schedules where `schedule` is not one of them
void require_schedule(Backend backend, SolveSchedule schedule);

/// Whether sweeps by that schedule of the backend can be in that precision, which is not automatic.
bool has_precision(Backend backend, SolveSchedule schedule, Precision precision);
/// @throws InvalidInput with the names of those that can where it cannot
void require_precision(Backend backend, SolveSchedule schedule, Precision precision);

}  // namespace taskdag
