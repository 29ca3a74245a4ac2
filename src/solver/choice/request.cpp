#include "solver/choice/request.hpp"

#include <charconv>
#include <optional>

#include "solver/choice/require_schedule.hpp"
#include "taskdag/error.hpp"

namespace taskdag {

namespace {

constexpr const char* kCellsPrefix = "cells:";

/// What the file holds, if this library has it: the file may come from another version.
std::optional<ScheduleChoice> choice_from_file(const ScheduleRequest& request, const TuneKey& key) {
  const std::optional<std::string> name = find_tuned(request.tune_file, key, request.tune);
  if (!name) return {};
  try {
    const ScheduleChoice choice = choice_from(*name);
    require_schedule(request.backend, choice.schedule);
    require_precision(request.backend, choice.schedule, request.precision);
    return choice;
  } catch (const InvalidInput& error) {
    warn_of_tune_file(request.tune_file, std::string("holds a choice that is not taken: ") + error.what());
    return {};
  }
}

}  // namespace

std::string name_of(const ScheduleChoice& choice) {
  return choice.cells > 0 ? kCellsPrefix + std::to_string(choice.cells) : to_string(choice.schedule);
}

ScheduleChoice choice_from(const std::string& name) {
  const std::string prefix = kCellsPrefix;
  if (!name.starts_with(prefix)) return {solve_schedule_from(name)};
  ScheduleChoice choice{SolveSchedule::cells};
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + prefix.size(), end, choice.cells);
  if (error != std::errc() || stop != end || choice.cells < 1) {
    throw InvalidInput("\"" + name + "\" names no number of cells");
  }
  return choice;
}

ScheduleChoice settle_schedule(const ScheduleRequest& request, SolveSchedule otherwise,
                               const std::function<TuneKey()>& key, const std::function<TrialResult()>& trials) {
  if (request.schedule != SolveSchedule::automatic) return {request.schedule};
  if (request.tune_file.empty()) return request.tune ? trials().choice : ScheduleChoice{otherwise};
  const TuneKey wanted = key();
  if (const auto choice = choice_from_file(request, wanted)) return *choice;
  if (!request.tune) return {otherwise};
  const TrialResult found = trials();
  save_tuned(request.tune_file, wanted, name_of(found.choice), found.microseconds);
  return found.choice;
}

}  // namespace taskdag
