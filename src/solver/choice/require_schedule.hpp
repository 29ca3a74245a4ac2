/// \file
/// The check that a schedule belongs to a backend.
#pragma once

#include "taskdag/context.hpp"
#include "taskdag/solve_schedule.hpp"

namespace taskdag {

/// @throws InvalidInput with the names of this backend's schedules where `schedule` is not one of them
void require_schedule(Backend backend, SolveSchedule schedule);

}  // namespace taskdag
