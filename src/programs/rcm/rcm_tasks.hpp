/// \file
/// Reverse Cuthill-McKee as programs of the task engine (MHive, section 7.3), for comparison with the library's own
/// form: the same permutation as the serial reverse_cuthill_mckee, by tasks on either backend.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/ordering/graph/adjacency.hpp"
#include "taskdag/context.hpp"
#include "taskdag/engine/report.hpp"

namespace taskdag::kernels {

/// Who makes the levels, and who sorts them. The search of the start nodes is by tasks in all three.
enum class TaskForm {
  bitonic,  ///< all by tasks: six types, the sort is a bitonic network (MHive, section 7.3.2 and appendix A)
  cub,      ///< the first three types as tasks; sorted by CUB's radix sort (host: by std::sort on the calling thread)
  cpu_gpu,  ///< made by the calling thread, sorted by CUB's radix sort (MHive, section 7.3.3; host: std::stable_sort)
};
/// "bitonic", "cub", "cpu-gpu".
const char* to_string(TaskForm form);

/// How one step of the permutation follows another. For bitonic and cub.
enum class TaskSteps {
  phases,        ///< MHive: each type has a phase of its own
  dependencies,  ///< the task that comes next waits for the tasks of the step; no worker ends in between
};

/// What CompressSortData looks through for the children of a level. For bitonic and cub.
enum class TaskCompression {
  all_nodes,   ///< MHive
  candidates,  ///< a list that CreateSortData has made: time by the level, not by the graph
};

struct TaskOrderingOptions {
  TaskForm form = TaskForm::bitonic;
  TaskSteps steps = TaskSteps::phases;
  TaskCompression compression = TaskCompression::all_nodes;
  /// Whether levels of at most 256 nodes are made by the one worker that would have created their tasks (MHive: no).
  /// For bitonic and cub; needs the candidates.
  bool narrow_in_place = false;
  /// Keys that one worker sorts in its shared memory: a power of two, 64 … 4096. MHive: 1024, 4 for each thread.
  std::uint32_t block_keys = 1024;
  engine::RunnerOptions runner = {};
  engine::RunOptions run = {};
};

/// Seconds of one call, and what it did.
struct TaskOrderingTimes {
  double search = 0;           ///< start nodes, small components included
  double permutation = 0;      ///< levels
  std::uint32_t searches = 0;  ///< breadth-first
  std::uint32_t levels = 0;    ///< of the permutation
  std::uint64_t tasks = 0;     ///< executed
  std::uint64_t growths = 0;   ///< of queues, see engine::Report
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
