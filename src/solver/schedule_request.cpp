#include "solver/schedule_request.hpp"

#include "solver/require_schedule.hpp"
#include "taskdag/error.hpp"

namespace taskdag {

namespace {

/// The file may come from another version of the library.
SolveSchedule schedule_from_file(const ScheduleRequest& request, const std::string& name) {
  try {
    const SolveSchedule schedule = solve_schedule_from(name);
    require_schedule(request.backend, schedule);
    return schedule;
  } catch (const InvalidInput& error) {
    throw ParseError(request.tune_file, 0, error.what());
  }
}

}  // namespace

SolveSchedule settle_schedule(const ScheduleRequest& request, SolveSchedule otherwise,
                              const std::function<TuneKey()>& key, const std::function<TrialResult()>& trials) {
  if (request.schedule != SolveSchedule::automatic) return request.schedule;
  if (request.tune_file.empty()) return request.tune ? trials().schedule : otherwise;
  const TuneKey wanted = key();
  if (const auto name = find_tuned(request.tune_file, wanted, request.tune)) return schedule_from_file(request, *name);
  if (!request.tune) return otherwise;
  const TrialResult found = trials();
  save_tuned(request.tune_file, wanted, to_string(found.schedule), found.microseconds);
  return found.schedule;
}

}  // namespace taskdag
