#include "solver/choice/require_schedule.hpp"

#include <algorithm>
#include <string>

#include "kernels/sptrsv/schedules/catalogue/catalogue.hpp"
#include "taskdag/error.hpp"

namespace taskdag {

void require_schedule(Backend backend, SolveSchedule schedule) {
  const SolveScheduleInfo& row = kernels::kCatalogue.at(static_cast<std::size_t>(schedule));
  if ((backend == Backend::cuda ? row.cuda : row.host) != ScheduleRole::absent) return;
  std::string offered;
  for (const SolveSchedule own : solve_schedules(backend)) {
    offered += (offered.empty() ? "" : ", ") + std::string(to_string(own));
  }
  throw InvalidInput(std::string("the schedule ") + row.name + " is not one of the " + to_string(backend) +
                     " backend, which has " + offered);
}

}  // namespace taskdag
