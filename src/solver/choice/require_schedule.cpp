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

}  // namespace taskdag
