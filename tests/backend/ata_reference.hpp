/// \file
/// Adaptive task aggregation as the paper words it, row by row on the host: what the aggregation on the device
/// (papers/helal) is held against. Only tests reach it. Every step is linear in rows and entries.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "papers/helal/coarse_dag.hpp"
#include "taskdag/schedule.hpp"

namespace taskdag::test {

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
/// The same with the levels of a level schedule.
FineDag make_fine_dag(const CsrMatrix& a, Triangle triangle);

/// The same edges by producer: rows offsets[j] … offsets[j + 1] wait for row j. `entry` follows; levels stay the rows'.
FineDag make_successors(const FineDag& dag);

/// Rows in SET order (section III-B1: by level, inside a level by neighbourhood, rows with as many lanes together),
/// grouped into adaptive tasks.
struct HierarchicalDag {
  kernels::CoarseDag coarse;
  std::vector<Index> order;        ///< position → row
  std::vector<Index> task_of_row;  ///< row → task
};

/// `lanes`: log2 of the lanes of each row's worker. `granularity` S >= 1 (ignored by by_level and sweep_order).
HierarchicalDag aggregate(const FineDag& dag, kernels::Aggregation aggregation, Index granularity,
                          std::span<const std::uint8_t> lanes);

/// Adaptive task t holds row tasks [first[t], first[t + 1]).
struct RowTaskList {
  std::vector<kernels::RowTask> task;
  std::vector<Index> first = {0};
};
RowTaskList make_row_tasks(const FineDag& dag, const HierarchicalDag& hierarchy, std::span<const std::uint8_t> lanes);

/// The rows of each level.
std::vector<Index> rows_of_levels(const FineDag& dag);

}  // namespace taskdag::test
