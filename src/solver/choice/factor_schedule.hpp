/// \file
/// Schedules of numeric factorisations: which of them are schedules of sweeps, too, and which a backend has.
#pragma once

#include <optional>

#include "taskdag/context.hpp"
#include "taskdag/factorization.hpp"
#include "taskdag/solve_schedule.hpp"

namespace taskdag {

/// The schedule of sweeps by which the rows run; nothing where the factor schedule is none of them.
std::optional<SolveSchedule> schedule_of_rows(FactorSchedule schedule);

/// @throws InvalidInput with the names of this backend's where `schedule` is not one of them
void require_factor_schedule(Backend backend, FactorSchedule schedule);

}  // namespace taskdag
