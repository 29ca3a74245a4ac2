/// \file
/// The rows of a triangular sweep and what each waits for, in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "kernels/sptrsv/analysis/levels.hpp"

namespace taskdag::kernels {

/// Rows, levels and the strict triangle of a pattern: the arrays are the caller's, in device memory.
struct FineDag {
  Triangle triangle = Triangle::lower;
  Index rows = 0;
  Offset edges = 0;
  const Index* column = nullptr;     ///< of the pattern
  const Offset* first = nullptr;     ///< row → entry of the pattern
  const Index* count = nullptr;      ///< row → entries from there on: rows that it waits for
  const Index* level = nullptr;      ///< per row
  std::vector<Index> rows_of_level;  ///< host memory

  [[nodiscard]] Index levels() const { return static_cast<Index>(rows_of_level.size()); }
};

/// Valid as long as what it is made from. Synchronises `stream`.
FineDag make_fine_dag(const DevicePattern& pattern, Triangle triangle, const TriangleRanges& ranges,
                      const RowLevels& levels, cudaStream_t stream);

/// The same edges by producer: rows column[first[j]] … column[first[j] + count[j] − 1] wait for row j, ascending.
struct Successors {
  cuda::ScratchArray<Offset> first;
  cuda::ScratchArray<Index> count;
  cuda::ScratchArray<Index> column;
  cuda::ScratchArray<Offset> entry;  ///< of the pattern that the DAG was made from
};
/// Asynchronous.
Successors make_successors(const FineDag& dag, cudaStream_t stream);

/// What rows stream through: their operands (pull) or their successors (push). Device memory.
struct EdgeList {
  const Offset* first = nullptr;
  const Index* count = nullptr;
  const Index* column = nullptr;
  const Offset* entry = nullptr;  ///< null: edge e is entry e
};
inline EdgeList operands(const FineDag& dag) { return {dag.first, dag.count, dag.column, nullptr}; }
inline EdgeList edges_of(const Successors& successors) {
  return {successors.first.data(), successors.count.data(), successors.column.data(), successors.entry.data()};
}

/// The workers of rows.
struct RowLanes {
  cuda::ScratchArray<std::uint8_t> log2;  ///< of the lanes of each row
  double rows_per_warp = 1.0;
};
/// The fewest lanes with which none has more than `entries_per_lane` of the row's `count`, or a whole warp.
/// entries_per_lane 0: a warp a row. Synchronises `stream`.
RowLanes lanes_of_rows(Index rows, const Index* count, int entries_per_lane, cudaStream_t stream);

/// Copies of the edges, row after row of `order`. Device memory.
struct OrderedEdges {
  cuda::DeviceArray<Offset> first;   ///< rows + 1
  cuda::DeviceArray<Index> column;   ///< of an edge inside a task: its complement
  cuda::DeviceArray<Offset> source;  ///< entry, or source_entry of it where that is not null
  [[nodiscard]] std::int64_t bytes() const { return first.bytes() + column.bytes() + source.bytes(); }
};
/// task_of_row null: no edge counts as one inside a task. @pre rows > 0. Synchronises `stream`.
OrderedEdges order_edges(Index rows, const EdgeList& edges, const Index* order, const Index* task_of_row,
                         const Offset* source_entry, cudaStream_t stream);

}  // namespace taskdag::kernels
