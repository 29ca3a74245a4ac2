/// \file
/// What schedules expect of a solve, and how one that promises more is told: the rules of an automatic choice.
#pragma once

#include <optional>

#include "taskdag/calibration.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/solve_schedule.hpp"

namespace taskdag::kernels {

/// What a schedule expects of a solve.
struct Expectation {
  double microseconds = 0.0;
  double margin = 1.0;  ///< it is taken where it takes less than this share of what the best so far takes
};

/// A schedule and what a solve by it is expected to take.
struct ExpectedSchedule {
  SolveSchedule schedule = SolveSchedule::flat;
  double microseconds = 0.0;
};

inline bool is_better(const Expectation& expected, const std::optional<ExpectedSchedule>& best) {
  return !best || expected.microseconds < expected.margin * best->microseconds;
}

/// With fewer levels schedules that save time by the level are not considered.
inline constexpr Index kFewLevels = 16;

/// What an automatic choice may take of the free device memory: the other sweep and the application need room.
inline constexpr double kShareOfFreeMemory = 0.25;

/// Cells, by their estimate. Estimates err: they must promise a gain.
inline Expectation expected_of_cells(double microseconds) { return {microseconds, 0.9}; }

/// Microseconds of the pass over the right-hand side, before the sweep that remains: a launch.
inline double pass_microseconds(const DeviceRates& rates) {
  constexpr double kPass = 4.0;
  return rates.launch * kPass;
}

/// Supernodes, by what is expected of the triangle that they leave.
inline Expectation expected_of_supernodes(const ExpectedSchedule& remaining, const DeviceRates& rates) {
  return {remaining.microseconds + pass_microseconds(rates)};
}

/// Joined levels, by the same. They cost at each load of values; and the estimate for flat is the coarser one.
inline Expectation expected_of_joined(const ExpectedSchedule& remaining, const DeviceRates& rates) {
  return {remaining.microseconds + pass_microseconds(rates), remaining.schedule == SolveSchedule::flat ? 0.85 : 0.9};
}

}  // namespace taskdag::kernels
