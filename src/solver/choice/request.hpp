/// \file
/// What a solver was asked for about the schedule of its sweeps, and how that is settled.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "solver/choice/tune_file.hpp"
#include "taskdag/context.hpp"
#include "taskdag/engine/static/order.hpp"
#include "taskdag/precision.hpp"
#include "taskdag/solve_schedule.hpp"
#include "taskdag/study.hpp"

namespace taskdag {

/// A schedule, and what tuning may set of it.
struct ScheduleChoice {
  SolveSchedule schedule = SolveSchedule::automatic;
  int variant = 0;  ///< one of those that the schedule gives to trials, of cells how many; 0: its own choice
  bool operator==(const ScheduleChoice&) const = default;
};

/// "flat", "cells", "cells:66".
std::string name_of(const ScheduleChoice& choice);
/// The choice of that name. @throws InvalidInput
ScheduleChoice choice_from(const std::string& name);

struct ScheduleRequest {
  Backend backend = Backend::host;
  SolveSchedule schedule = SolveSchedule::automatic;
  bool tune = false;                        ///< this and the file count for automatic only
  std::string tune_file;                    ///< empty: none
  std::string device;                       ///< with a tune file: name of what runs the sweep
  engine::StaticOptions run = {};           ///< of the schedule engine
  std::shared_ptr<const Study> study = {};  ///< of the papers' schedules
  bool keep_rows = false;  ///< take no schedule that rewrites rows, even if one is named or the fastest in trials
  Precision precision = Precision::in_double;  ///< that the sweep is made in: never automatic
  bool complex_numbers = false;                ///< as in SweepInput
};

/// Makes the request one for sweeps in single precision. Trials of such have entries of their own in tune files.
inline void ask_for_single(ScheduleRequest& request) {
  request.precision = Precision::in_single;
  request.device += ", single precision";
}

/// The request in an options structure.
template <class Options>
ScheduleRequest request_of(const Options& options, const Context& context) {
  // Only a tune file is asked by the device's name, which takes time to find out.
  return {context.backend(),
          options.schedule,
          options.tune,
          options.tune_file,
          options.tune_file.empty() ? std::string() : context.device_name(),
          options.run,
          std::make_shared<const Study>(study_of(options))};
}

/// What trials have found to be the fastest.
struct TrialResult {
  ScheduleChoice choice;
  double microseconds = 0.0;
};

/// The schedule to use: the one that was named; else what the tune file holds; else the result of trials, which goes
/// into the file; else `otherwise`. `key` and `trials` are called where they are needed.
/// What the file names is left, with a warning, if it is no schedule of the backend.
/// @throws what find_tuned() and save_tuned() throw
ScheduleChoice settle_schedule(const ScheduleRequest& request, SolveSchedule otherwise,
                               const std::function<TuneKey()>& key, const std::function<TrialResult()>& trials);

}  // namespace taskdag
