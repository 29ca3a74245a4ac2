/// \file
/// What a solver was asked for about the schedule of its sweeps.
#pragma once

#include <string>

#include "taskdag/solve_schedule.hpp"

namespace taskdag {

struct ScheduleRequest {
  SolveSchedule schedule = SolveSchedule::automatic;
  bool tune = false;      ///< this and the file count for automatic only
  std::string tune_file;  ///< empty: none
  std::string device;     ///< name of what runs the sweep
};

/// The request in an options structure.
template <class Options>
ScheduleRequest request_of(const Options& options, std::string device) {
  return {options.schedule, options.tune, options.tune_file, std::move(device)};
}

}  // namespace taskdag
