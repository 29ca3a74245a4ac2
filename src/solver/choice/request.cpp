#include "solver/choice/request.hpp"

#include <charconv>
#include <optional>

#include "kernels/papers/papers.hpp"
#include "solver/choice/require_schedule.hpp"
#include "taskdag/error.hpp"

namespace taskdag {

namespace {

/// What the file holds, if this library has it: the file may come from another version.
std::optional<ScheduleChoice> choice_from_file(const ScheduleRequest& request, const TuneKey& key) {
  const std::optional<std::string> name = find_tuned(request.tune_file, key, request.tune);
  if (!name) return {};
  try {
    const ScheduleChoice choice = choice_from(*name);
    require_schedule(request.backend, choice.schedule);
    require_precision(request.backend, choice.schedule, request.precision);
    if (kernels::is_of_papers(request.backend, choice.schedule)) kernels::papers("the schedule " + *name);
    return choice;
  } catch (const Error& error) {
    warn_of_tune_file(request.tune_file, std::string("holds a choice that is not taken: ") + error.what());
    return {};
  }
}

}  // namespace

std::string name_of(const ScheduleChoice& choice) {
  const std::string schedule = to_string(choice.schedule);
  return choice.variant > 0 ? schedule + ":" + std::to_string(choice.variant) : schedule;
}

ScheduleChoice choice_from(const std::string& name) {
  const std::size_t colon = name.find(':');
  ScheduleChoice choice{solve_schedule_from(name.substr(0, colon))};
  if (colon == std::string::npos) return choice;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + colon + 1, end, choice.variant);
  // The one schedule whose variants are numbered in a file.
  const bool numbered = choice.schedule == SolveSchedule::cells;
  if (!numbered || error != std::errc() || stop != end || choice.variant < 1) {
    throw InvalidInput("\"" + name + "\" names no variant of a schedule");
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
