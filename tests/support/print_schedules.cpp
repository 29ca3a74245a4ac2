/// \file
/// Prints the catalogue of schedules as the Markdown table that docs/schedules.md holds.
#include <iostream>

#include "taskdag/solve_schedule.hpp"

namespace {

const char* text(taskdag::ScheduleRole role) {
  switch (role) {
    case taskdag::ScheduleRole::absent:
      return "";
    case taskdag::ScheduleRole::automatic:
      return "auto";
    case taskdag::ScheduleRole::tuned:
      return "tuning";
    case taskdag::ScheduleRole::study:
      return "by name";
  }
  return "?";
}

/// In which backends a schedule has values in single precision.
const char* single_text(const taskdag::SolveScheduleInfo& row) {
  if (row.single_on_cuda) return row.single_on_host ? "both" : "CUDA";
  return row.single_on_host ? "host" : "";
}

}  // namespace

int main() {
  std::cout << "| Schedule | CUDA | Host threads | Rewrites rows | Single | |\n|---|---|---|---|---|---|\n";
  for (const taskdag::SolveScheduleInfo& row : taskdag::solve_schedule_catalogue()) {
    if (row.schedule == taskdag::SolveSchedule::automatic) continue;
    std::cout << "| `" << row.name << "` | " << text(row.cuda) << " | " << text(row.host) << " | "
              << (row.rewrites_rows ? "yes" : "") << " | " << single_text(row) << " | " << row.sentence << " |\n";
  }
  return std::cout.good() ? 0 : 1;
}
