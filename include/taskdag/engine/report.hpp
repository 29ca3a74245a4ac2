/// \file
/// How a program is run, and what the run says afterwards. No templates: the same for all programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "taskdag/engine/record.hpp"
#include "taskdag/export.hpp"

namespace taskdag::engine {

/// Who decides what runs when.
enum class Scheduler {
  automatic,   ///< the megakernel
  timesliced,  ///< the host reads the fill levels and starts discrete kernels, one per type and slice (MHive TSK, Atos)
  megakernel,  ///< persistent workers of all types of a phase, without a controller (MHive MK)
  device_controller,  ///< a controller beside the workers starts them by type (MHive PDC)
};

/// How a controller on the GPU comes back after each turn (cuda/controller.cuh).
enum class ControllerForm {
  chain,  ///< it launches kernels, and itself behind them
  graph,  ///< it stands in a CUDA graph's loop
};

/// Who goes from one phase of a megakernel to the next.
enum class PhaseChange {
  automatic,   ///< the workers, where one kernel for all phases has as many of them as the kernels of single phases
  by_workers,  ///< the workers: one kernel (host: one start of threads) for all phases. Where the types' workers are of
               ///< such sizes that no kernel can hold them all, the host
  on_host,     ///< the host, which starts a kernel per phase
};

/// What to do when a queue or a waiting storage is above its capacity.
enum class FullPolicy {
  grow,  ///< suspend, double it, go on
  wait,  ///< bounded: run only types that create nothing for it until it is within its capacity; report if none can run
  report,  ///< end the run with Outcome::queue_full; nothing is lost, another run() goes on from there
};

struct RunOptions {
  Scheduler scheduler = Scheduler::automatic;
  FullPolicy on_full = FullPolicy::grow;
  /// Of the device controller; the host has one form.
  ControllerForm controller = ControllerForm::graph;
  /// Of the megakernel.
  PhaseChange phases = PhaseChange::automatic;
  /// GPU: blocks of a persistent kernel, 0: as many as are resident. Host: threads are the context's.
  int blocks = 0;
  /// Largest number of items of one type in a slice of the timesliced scheduler, 0: all that are queued.
  std::uint32_t slice_items = 0;
  /// Milliseconds without a finished task after which the run is ended, 0: no watchdog.
  std::uint32_t watchdog_ms = 0;
  /// Whether a worker may go on with the first child of a task without a queue.
  bool continues = true;
};

struct RunnerOptions {
  std::uint32_t queue_capacity = 1U << 14U;    ///< items per task type, to begin with
  std::uint32_t storage_capacity = 1U << 12U;  ///< waiting items per task type, to begin with
  std::uint32_t rings = 0;                     ///< of multi-queues; 0: 256; never more than teams can run at once
  std::uint32_t trace_events = 1U << 20U;      ///< room for events, where the program has a TraceProbe
};

enum class Outcome {
  finished,        ///< every task was executed
  deadlock,        ///< all tasks left wait for dependencies that no task can resolve any more
  watchdog,        ///< no task ended for as long as the watchdog allows
  queue_full,      ///< a queue or storage is full, and the policy is not to grow
  broken_promise,  ///< a task created more than its type's max_children: items were lost, the runner must be cleared
  task_failed,     ///< a task called fail()
};
TASKDAG_API const char* to_string(Outcome outcome);
TASKDAG_API const char* to_string(Scheduler scheduler);
/// "auto", "timesliced", "megakernel", "controller". @throws InvalidInput for another name
TASKDAG_API Scheduler scheduler_from(std::string_view name);

/// What one kernel of a run costs the GPU; also what the host started, with zeros.
struct KernelInfo {
  std::string name;
  int registers = 0;     ///< per thread
  int local_bytes = 0;   ///< per thread, spilled registers included
  int shared_bytes = 0;  ///< per block
  int threads = 0;       ///< per block
  int blocks_per_sm = 0;
  std::uint64_t launches = 0;
};

struct TypeReport {
  std::string name;
  std::uint64_t executed = 0;  ///< tasks in this run
  std::uint32_t queued = 0;    ///< left in the queue
  std::uint32_t waiting = 0;   ///< left in the waiting storage
  std::uint32_t queue_capacity = 0;
  std::uint32_t storage_capacity = 0;
  int lanes = 1;            ///< of a worker
  std::uint64_t found = 0;  ///< those of the tasks that idle workers found (task_type.hpp)
};

struct Report {
  Outcome outcome = Outcome::finished;
  std::string message;  ///< one sentence: where the run stands, and what to do
  int phase = -1;       ///< that ran last; -1: none, phaseless types only
  double seconds = 0;   ///< from the start of the first worker to the end of the last, the controller's time included
  std::uint64_t slices = 0;   ///< turns of the controller on the host
  std::uint64_t growths = 0;  ///< of queues and storages
  std::vector<TypeReport> types;
  std::vector<KernelInfo> kernels;
  OperationCounts operations;      ///< with a CountingProbe
  std::vector<TraceEvent> events;  ///< with a TraceProbe, in no order
  std::uint64_t dropped_events = 0;
  // Of a static program, in all its runs. Both 0: its tasks wait by themselves, for values.
  std::uint64_t predecessor_waits = 0;  ///< individual dependencies: ends of predecessors that tasks needed
  std::uint64_t level_waits = 0;        ///< phases: ends of levels that all teams needed

  [[nodiscard]] bool finished() const { return outcome == Outcome::finished; }
  [[nodiscard]] std::uint64_t executed() const {
    std::uint64_t sum = 0;
    for (const TypeReport& type : types) sum += type.executed;
    return sum;
  }
};

/// Writes report.message. For the engine: `type` and `code` as in the ledger.
TASKDAG_API void explain(Report& report, int type, std::uint32_t code);

/// The report in some lines of text.
TASKDAG_API std::string describe(const Report& report);

}  // namespace taskdag::engine
