// Names of schedules, schedulers, dependencies and forms, as options and tune files hold them: what is taken has a name
// that leads back to it.
#include "fuzz/property.hpp"
#include "solver/choice/request.hpp"
#include "taskdag/engine/report.hpp"
#include "taskdag/engine/static/order.hpp"
#include "taskdag/error.hpp"
#include "taskdag/jacobi.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace taskdag;
  const std::string name(reinterpret_cast<const char*>(data), size);
  try {
    const ScheduleChoice choice = choice_from(name);
    fuzz::require(choice_from(name_of(choice)) == choice, "the name of a choice leads back to it");
  } catch (const InvalidInput&) {
  }
  try {
    fuzz::require(to_string(solve_schedule_from(name)) == name, "a schedule has one name");
  } catch (const InvalidInput&) {
  }
  try {
    fuzz::require(to_string(engine::scheduler_from(name)) == name, "a scheduler has one name");
  } catch (const InvalidInput&) {
  }
  try {
    fuzz::require(to_string(engine::dependencies_from(name)) == name, "a kind of dependencies has one name");
  } catch (const InvalidInput&) {
  }
  try {
    fuzz::require(to_string(jacobi_form_from(name)) == name, "a form of Jacobi sweeps has one name");
  } catch (const InvalidInput&) {
  }
  return 0;
}
