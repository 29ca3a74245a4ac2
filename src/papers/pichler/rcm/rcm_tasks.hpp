/// \file
/// Reverse Cuthill-McKee as programs of the task engine (MHive, section 7.3): the form `tasks` of
/// reverse_cuthill_mckee(), and more that benchmarks can choose. The same permutation as the serial function, by tasks
/// on either backend.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/ordering/graph/adjacency.hpp"
#include "kernels/papers/papers.hpp"
#include "taskdag/context.hpp"
#include "taskdag/engine/report.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag::kernels {

namespace rcm_tasks {
class PermutationProgram;
}

/// What CompressSortData looks through for the children of a level. For bitonic and cub.
enum class TaskCompression {
  all_nodes,   ///< MHive
  candidates,  ///< a list that CreateSortData has made: time by the level, not by the graph
};

struct TaskOrderingOptions {
  RcmSort sort = RcmSort::bitonic;
  RcmSteps steps = RcmSteps::phases;
  TaskCompression compression = TaskCompression::all_nodes;
  /// Whether levels of at most 256 nodes are made by the one worker that would have created their tasks (MHive: no).
  /// For bitonic and cub; needs the candidates.
  bool narrow_in_place = false;
  /// Keys that one worker sorts in its shared memory: a power of two, 64 … 4096. MHive: 1024, 4 for each thread.
  std::uint32_t block_keys = 1024;
  engine::RunnerOptions runner = {};
  engine::RunOptions run = {};
  /// For bitonic and cub: another program of the same steps, with a probe, say. Null: the library's.
  std::unique_ptr<rcm_tasks::PermutationProgram> (*make_permutation)(const Context&,
                                                                     const engine::RunnerOptions&) = nullptr;
};

/// What the form `tasks` of reverse_cuthill_mckee() runs: with phases MHive's program, with dependencies ours.
TaskOrderingOptions library_program(const OrderingOptions& options);

/// One ordering by that program.
OrderByTasks order_by_tasks(const Context& context, const GraphView& graph, const OrderingOptions& options);

/// What the tasks of one type did in one call.
struct TaskTypeTime {
  std::string name;
  std::uint64_t tasks = 0;
  double seconds = 0;  ///< of all workers together
};

/// Seconds of one call, and what it did.
struct TaskOrderingTimes {
  double search = 0;                        ///< start nodes, small components included
  double permutation = 0;                   ///< levels
  std::uint32_t searches = 0;               ///< breadth-first
  std::uint32_t levels = 0;                 ///< of the permutation
  std::uint64_t tasks = 0;                  ///< executed
  std::uint64_t growths = 0;                ///< of queues, see engine::Report
  std::vector<engine::KernelInfo> kernels;  ///< of the permutation, launches of the last run
  std::vector<TaskTypeTime> types;          ///< of the permutation, where its program has a TraceProbe
  std::uint64_t dropped_events = 0;         ///< tasks that `types` lacks
};

/// The programs and their memory for one graph on one backend.
class RcmByTasks {
 public:
  /// Copies the graph to the device (host backend: refers to it), ranks its nodes, makes the queues.
  /// @pre the graph is in host memory and outlives the object
  /// @throws InvalidInput for narrow_in_place without candidates, or for block_keys out of range; Unsupported,
  /// OutOfMemory, DeviceError as engine::Runner
  RcmByTasks(const Context& context, const GraphView& graph, const TaskOrderingOptions& options = {});
  RcmByTasks(RcmByTasks&&) noexcept;
  ~RcmByTasks();

  /// @returns order with order[new] = old: what reverse_cuthill_mckee returns for a matrix with this graph. May be
  /// called again. Returns when all is done.
  /// @throws Error if a run of the engine did not finish; the message has the engine's reason
  [[nodiscard]] std::vector<Index> order(TaskOrderingTimes* times = nullptr);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The same in one call.
std::vector<Index> rcm_by_tasks(const Context& context, const GraphView& graph, const TaskOrderingOptions& options = {},
                                TaskOrderingTimes* times = nullptr);

}  // namespace taskdag::kernels
