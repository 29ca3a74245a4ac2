/// \file
/// Adaptive task aggregation (ATA), what is decided on the host: from levels and tasks, never from rows or entries.
/// Source: Helal, Aji, Chu, Beckmann, Feng, Adaptive Task Aggregation for High-Performance Sparse Solvers on GPUs, PACT
/// 2019, sections III-A and III-C.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// How rows become adaptive tasks.
enum class Aggregation {
  by_level,     ///< each level one task: level-set execution
  sweep_order,  ///< one task, rows in natural order: self-scheduled execution
  concurrency,  ///< whole levels until a task has S rows (algorithm 3)
  locality,     ///< S neighbouring rows (algorithm 4)
  greedy,       ///< S rows in level order, wherever a level ends (section III-C)
};

/// Limits that keep coarse DAGs within what streams and graphs carry; aggregate() raises S to meet them.
inline constexpr Index kMaxAdaptiveTasks = 4096;
inline constexpr std::int64_t kMaxCoarseEdges = 65536;

/// The adaptive tasks and what they wait for. Task t holds positions [first[t], first[t + 1]) of the rows' order.
struct CoarseDag {
  Index granularity = 0;                                ///< S in rows; 0 where the aggregation has none
  std::vector<Index> first = {0};                       ///< tasks + 1
  std::vector<char> tracked;                            ///< 1: rows of the task wait for rows of the same task
  std::vector<std::int64_t> predecessor_offsets = {0};  ///< tasks + 1
  std::vector<Index> predecessors;  ///< smaller tasks, ascending; those that other edges imply are left out
  std::int64_t fine_edges = 0;      ///< edges inside tasks: the only ones that are waited for in a kernel

  [[nodiscard]] Index tasks() const { return static_cast<Index>(first.size()) - 1; }
};

/// S with which there are no more tasks than kMaxAdaptiveTasks. @pre rows > 0
Index within_most_tasks(Aggregation aggregation, Index granularity, Index rows, Index levels);
/// The next S to try where there are more coarse edges than kMaxCoarseEdges; with S = rows there are none.
Index next_granularity(Index granularity, Index rows);

/// Algorithm 3: the task of each level; the last one's is the last task.
std::vector<Index> join_levels(std::span<const Index> rows_of_level, Index granularity);

/// CoarseDag::first. task_of_level: join_levels(), for concurrency alone. @pre levels > 0
std::vector<Index> first_positions(Aggregation aggregation, Index granularity, Index rows,
                                   std::span<const Index> rows_of_level, std::span<const Index> task_of_level);

/// Adds the predecessors of tasks 0, 1, 2, … in turn. An edge from p to t is left out where p, p + 1, …, t − 1, t are a
/// chain of edges already: then it adds nothing.
class CoarseEdges {
 public:
  explicit CoarseEdges(CoarseDag& dag) : dag_(dag) {}
  /// `found`: all tasks that rows of the next task wait for, ascending.
  void add(std::span<const Index> found);

 private:
  CoarseDag& dag_;
  Index chain_start_ = 0;
};

/// What one warp runs: `rows` consecutive positions from `first`, 2^log2_lanes lanes a row. Rows of one level, so that
/// no lane waits for a lane of its own warp.
struct alignas(8) RowTask {
  Index first;
  std::uint16_t rows;
  std::uint16_t log2_lanes;
};

/// The shapes that the paper sorts its results by (section IV-A).
enum class DagClass {
  parallel,  ///< fewer than 100 levels: bound by execution, not by dependencies
  wide,      ///< more than half of the levels have `wide_level` rows or more
  l_shape,   ///< the rest: most levels are narrow
};
/// `wide_level`: rows that keep the whole device busy: four warps a multiprocessor, one for each SIMD unit, as in the
/// paper.
DagClass classify(std::span<const Index> rows_of_level, Index wide_level);
const char* to_string(DagClass dag_class);

}  // namespace taskdag::kernels
