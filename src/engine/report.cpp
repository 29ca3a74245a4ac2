#include "taskdag/engine/report.hpp"

#include <sstream>

#include "taskdag/error.hpp"

namespace taskdag::engine {

const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::finished:
      return "finished";
    case Outcome::deadlock:
      return "deadlock";
    case Outcome::watchdog:
      return "watchdog";
    case Outcome::queue_full:
      return "queue full";
    case Outcome::broken_promise:
      return "broken promise";
    case Outcome::task_failed:
      break;
  }
  return "task failed";
}

const char* to_string(Scheduler scheduler) {
  switch (scheduler) {
    case Scheduler::timesliced:
      return "timesliced";
    case Scheduler::megakernel:
      return "megakernel";
    case Scheduler::device_controller:
      return "controller";
    case Scheduler::automatic:
      break;
  }
  return "auto";
}

Scheduler scheduler_from(std::string_view name) {
  for (const Scheduler scheduler :
       {Scheduler::automatic, Scheduler::timesliced, Scheduler::megakernel, Scheduler::device_controller}) {
    if (name == to_string(scheduler)) return scheduler;
  }
  throw InvalidInput("unknown scheduler \"" + std::string(name) + "\": auto, timesliced, megakernel or controller");
}

namespace {

/// "phase 1; cut leg: 3 queued, 2 waiting; …", types without tasks left out.
std::string what_remains(const Report& report) {
  std::ostringstream text;
  text << (report.phase < 0 ? std::string("no phase") : "phase " + std::to_string(report.phase));
  for (const TypeReport& type : report.types) {
    if (type.queued == 0 && type.waiting == 0) continue;
    text << "; " << type.name << ": " << type.queued << " queued, " << type.waiting << " waiting";
  }
  return text.str();
}

}  // namespace

void explain(Report& report, int type, std::uint32_t code) {
  const std::string name =
      static_cast<std::size_t>(type) < report.types.size() ? report.types[static_cast<std::size_t>(type)].name : "?";
  switch (report.outcome) {
    case Outcome::finished:
      report.message = "all tasks were executed";
      return;
    case Outcome::deadlock:
      report.message = "all tasks left wait for dependencies that no task resolves (" + what_remains(report) + ")";
      return;
    case Outcome::watchdog:
      report.message = "no task ended for as long as the watchdog allows (" + what_remains(report) + ")";
      return;
    case Outcome::queue_full:
      report.message = "the " + std::string(code == 0 ? "queue" : "waiting storage") + " of " + name +
                       " is above its capacity; nothing is lost: enlarge it, or let it grow (" + what_remains(report) +
                       ")";
      return;
    case Outcome::broken_promise:
      report.message =
          "the " + std::string(code == 0 ? "queue" : "waiting storage") + " of " + name +
          " had no room left, items were lost: a task created more items than its type's max_children says";
      return;
    case Outcome::task_failed:
      report.message = "a task of type " + name + " failed with code " + std::to_string(code);
      return;
  }
}

std::string describe(const Report& report) {
  std::ostringstream text;
  text << to_string(report.outcome) << ": " << report.message << "\n";
  text << report.executed() << " tasks in " << report.seconds << " s, " << report.slices << " turns of the controller, "
       << report.growths << " growths\n";
  for (const TypeReport& type : report.types) {
    text << "  " << type.name << ": " << type.executed << " executed, " << type.queued << " queued, " << type.waiting
         << " waiting";
    if (type.found != 0) text << ", " << type.found << " found by idle workers";
    text << "\n";
  }
  for (const KernelInfo& kernel : report.kernels) {
    text << "  kernel " << kernel.name << ": " << kernel.launches << " launches, " << kernel.threads << " threads, "
         << kernel.registers << " registers, " << kernel.local_bytes << " B local, " << kernel.shared_bytes
         << " B shared, " << kernel.blocks_per_sm << " blocks per SM\n";
  }
  return text.str();
}

}  // namespace taskdag::engine
