#include "solver/choice/require_schedule.hpp"

#include <string>

#include "kernels/sptrsv/schedules/catalogue/catalogue.hpp"
#include "taskdag/error.hpp"

namespace taskdag {

void require_schedule(Backend backend, SolveSchedule schedule) {
  const SolveScheduleInfo& row = kernels::row_of(schedule);
  if ((backend == Backend::cuda ? row.cuda : row.host) != ScheduleRole::absent) return;
  throw InvalidInput(std::string("the schedule ") + row.name + " is not one of the " + to_string(backend) +
                     " backend, which has " + kernels::names_of_schedules(backend));
}

bool has_precision(Backend backend, SolveSchedule schedule, Precision precision) {
  const SolveScheduleInfo& row = kernels::row_of(schedule);
  return precision == Precision::in_double || (backend == Backend::cuda ? row.single_on_cuda : row.single_on_host);
}

void require_precision(Backend backend, SolveSchedule schedule, Precision precision) {
  if (has_precision(backend, schedule, precision)) return;
  std::string names;
  for (const SolveScheduleInfo& row : solve_schedule_catalogue()) {
    if ((backend == Backend::cuda ? row.single_on_cuda : row.single_on_host)) {
      names += (names.empty() ? "" : ", ") + std::string(row.name);
    }
  }
  throw InvalidInput(std::string("the schedule ") + to_string(schedule) +
                     " has no form for values in single precision; on the " + to_string(backend) +
                     " backend these have: " + names);
}

}  // namespace taskdag
