#include "kernels/sptrsv/schedules/catalogue/catalogue.hpp"

#include <algorithm>
#include <vector>

#include "taskdag/error.hpp"

namespace taskdag {

namespace {

using kernels::kCatalogue;

std::vector<SolveSchedule> list(bool (*has)(const SolveScheduleInfo&)) {
  std::vector<SolveSchedule> found;
  for (const SolveScheduleInfo& row : kCatalogue) {
    if (has(row)) found.push_back(row.schedule);
  }
  return found;
}

}  // namespace

std::span<const SolveScheduleInfo> solve_schedule_catalogue() { return kCatalogue; }

const char* to_string(SolveSchedule schedule) { return kernels::row_of(schedule).name; }

SolveSchedule solve_schedule_from(const std::string& name) {
  const auto* const found =
      std::ranges::find_if(kCatalogue, [&](const SolveScheduleInfo& row) { return row.name == name; });
  if (found != kCatalogue.end()) return found->schedule;
  throw InvalidInput("no schedule is named \"" + name + "\"; there are " +
                     kernels::names_of_schedules(Backend::automatic));
}

std::span<const SolveSchedule> solve_schedules(Backend backend) {
  static const auto cuda =
      list([](const SolveScheduleInfo& row) { return row.cuda != ScheduleRole::absent && !row.needs_blocks; });
  static const auto host =
      list([](const SolveScheduleInfo& row) { return row.host != ScheduleRole::absent && !row.needs_blocks; });
  static const auto all = list([](const SolveScheduleInfo&) { return true; });
  switch (backend) {
    case Backend::cuda:
      return cuda;
    case Backend::host:
      return host;
    case Backend::automatic:
      break;
  }
  return all;
}

std::string kernels::names_of_schedules(Backend backend) {
  std::string names;
  for (const SolveSchedule schedule : solve_schedules(backend)) {
    names += (names.empty() ? "" : ", ") + std::string(to_string(schedule));
  }
  return names;
}

}  // namespace taskdag
