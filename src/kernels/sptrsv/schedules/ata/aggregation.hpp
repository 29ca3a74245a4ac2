/// \file
/// Adaptive task aggregation (ATA) on the host: from the fine DAG of the rows to a hierarchical DAG of adaptive tasks.
/// Source: Helal, Aji, Chu, Beckmann, Feng, Adaptive Task Aggregation for High-Performance Sparse Solvers on GPUs, PACT
/// 2019, sections III-A and III-C. Every step is linear in rows and entries.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "taskdag/schedule.hpp"

namespace taskdag::kernels {

/// The rows of a triangular sweep and what each waits for, in host memory.
struct FineDag {
  Triangle triangle = Triangle::lower;
  std::vector<Offset> offsets = {0};  ///< rows + 1
  std::vector<Index> columns;         ///< rows that the row waits for
  std::vector<Offset> entry;          ///< of the pattern that the DAG was made from
  std::vector<Index> level;           ///< per row
  Index levels = 0;

  [[nodiscard]] Index rows() const { return static_cast<Index>(level.size()); }
  [[nodiscard]] Offset edges() const { return offsets.back(); }
};

/// Takes the strict triangle of a square host pattern whose levels are known.
FineDag make_fine_dag(const CsrPattern& pattern, Triangle triangle, std::span<const Index> level, Index levels);

/// The same edges by producer: rows offsets[j] … offsets[j + 1] wait for row j. `entry` follows; levels stay the rows'.
FineDag make_successors(const FineDag& dag);

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

/// Rows in SET order (section III-B1: by level, inside a level by neighbourhood, rows with as many lanes together),
/// grouped into adaptive tasks. Task t holds positions [first[t], first[t + 1]).
struct HierarchicalDag {
  Index granularity = 0;                                ///< S in rows; 0 where the aggregation has none
  std::vector<Index> order;                             ///< position → row
  std::vector<Index> first = {0};                       ///< tasks + 1
  std::vector<Index> task_of_row;                       ///< row → task
  std::vector<char> tracked;                            ///< 1: rows of the task wait for rows of the same task
  std::vector<std::int64_t> predecessor_offsets = {0};  ///< tasks + 1
  std::vector<Index> predecessors;                      ///< smaller tasks; those that other edges imply are left out
  std::int64_t fine_edges = 0;  ///< edges inside tasks: the only ones that are waited for in a kernel
  double milliseconds = 0.0;    ///< that aggregate() took

  [[nodiscard]] Index tasks() const { return static_cast<Index>(tracked.size()); }
};

/// `lanes`: log2 of the lanes of each row's worker. `granularity` S >= 1 (ignored by by_level and sweep_order).
HierarchicalDag aggregate(const FineDag& dag, Aggregation aggregation, Index granularity,
                          std::span<const std::uint8_t> lanes);

/// What one warp runs: `rows` consecutive positions from `first`, 2^log2_lanes lanes a row. Rows of one level, so that
/// no lane waits for a lane of its own warp.
struct alignas(8) RowTask {
  Index first;
  std::uint16_t rows;
  std::uint16_t log2_lanes;
};
/// Adaptive task t holds row tasks [first[t], first[t + 1]).
struct RowTaskList {
  std::vector<RowTask> task;
  std::vector<Index> first = {0};
};
RowTaskList make_row_tasks(const FineDag& dag, const HierarchicalDag& hierarchy, std::span<const std::uint8_t> lanes);

/// The shapes that the paper sorts its results by (section IV-A).
enum class DagClass {
  parallel,  ///< fewer than 100 levels: bound by execution, not by dependencies
  wide,      ///< more than half of the levels have `wide_level` rows or more
  l_shape,   ///< the rest: most levels are narrow
};
/// `wide_level`: rows that keep the whole device busy: four warps a multiprocessor, one for each SIMD unit, as in the
/// paper.
DagClass classify(const FineDag& dag, Index wide_level);
const char* to_string(DagClass dag_class);

}  // namespace taskdag::kernels
