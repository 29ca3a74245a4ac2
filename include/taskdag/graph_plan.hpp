/// \file
/// How a graph of an application's own tasks is to be run: made once from its edges, on the host. No templates; what
/// runs it is taskdag/graph.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/engine/static/order.hpp"
#include "taskdag/export.hpp"

namespace taskdag::engine {

/// What makes a task start when all tasks that it waits for have ended.
enum class GraphWay {
  automatic,  ///< lists on the host, waits on CUDA
  launches,   ///< a launch a level: a level begins when the one before has ended
  barriers,   ///< one launch, whose workers meet after each level
  waits,      ///< one launch: workers take tasks in the order of their levels, and wait for what a task needs
  lists,      ///< the same with lists of tasks, as the barrier list scheduler Locking deals them out after Funnel
  counters,   ///< one launch: the last of those that a task waits for hands it to a worker that is free
};
TASKDAG_API const char* to_string(GraphWay way);
/// "auto", "launches", "barriers", "waits", "lists", "counters". @throws InvalidInput for another name
TASKDAG_API GraphWay graph_way_from(std::string_view name);

struct GraphOptions {
  GraphWay way = GraphWay::automatic;
  /// Cores that `lists` are made for; 0: the context's host threads, or four for each multiprocessor.
  int cores = 0;
};

/// Plain arrays. A *portion* is what a worker runs at a time, one task after the other: of lists what a core has
/// between two barriers, else one task.
struct GraphPlan {
  GraphWay way = GraphWay::automatic;  ///< what was taken
  Index levels = 0;                    ///< tasks on the longest path
  std::vector<Index> task;             ///< portion by portion: the application's numbers
  std::vector<std::uint32_t> begin;    ///< of the portions in `task`, and the end; empty: each task is one
  /// waits, lists: portion p waits for wait[wait_begin[p]] … wait[wait_begin[p + 1] − 1], all of them smaller than p.
  std::vector<std::uint32_t> wait_begin;
  std::vector<std::uint32_t> wait;
  StaticOrder order;  ///< of the portions

  [[nodiscard]] Index tasks() const { return static_cast<Index>(task.size()); }
  [[nodiscard]] Index portions() const { return static_cast<Index>(order.tasks.front()); }
};

/// Edges that others imply are left out. One thread; cost: (tasks + edges) · log(tasks), of lists that of the scheduler
/// (docs/papers/barrier-lists.md).
///
/// edges: a square pattern in host memory whose row t has the tasks that task t waits for, in any order; a task may
/// stand there several times.
/// @throws InvalidInput where the pattern is not square, its offsets do not ascend from 0, a task is not there, for a
/// cycle, which the message names, and for cores < 0; OutOfMemory
TASKDAG_API GraphPlan make_graph_plan(const Context& context, const CsrPattern& edges,
                                      const GraphOptions& options = {});

// For the runner.

/// The order of a runner's runs, whatever streams they are on. On the host, where a run ends before the next one
/// begins, there is nothing to do.
class TASKDAG_API GraphRuns {
 public:
  explicit GraphRuns(const Context& context);
  ~GraphRuns();
  GraphRuns(const GraphRuns&) = delete;
  GraphRuns& operator=(const GraphRuns&) = delete;
  /// A run is submitted to `stream` between the two. @throws DeviceError, and then no end() is due
  void begin(Stream stream);
  void end() noexcept;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace taskdag::engine
