#include <bit>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/reduce.hpp"
#include "backends/cuda/scan.hpp"
#include "backends/cuda/seam.cuh"
#include "backends/cuda/sort.hpp"
#include "base/index.hpp"
#include "kernels/sptrsv/analysis/lanes.hpp"
#include "kernels/sptrsv/analysis/measure.hpp"
#include "papers/helal/fine_dag.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::kFullWarp;
using cuda::kWarpSize;
using cuda::ScratchArray;

/// Blocks for a warp a row: a row may have any number of entries.
int row_blocks(Index rows) { return element_blocks(std::int64_t{rows} * kWarpSize); }

/// Edges with numbers 0, 1, 2, … row after row: what each waits for, its number, its row and its entry.
__global__ void list_edges(Index rows, EdgeList edges, const Offset* number, Index* producer, Offset* edge, Index* row,
                           Offset* entry) {
  const auto i = static_cast<Index>(element() / kWarpSize);
  if (i >= rows) return;
  for (Index k = static_cast<Index>(threadIdx.x) % kWarpSize; k < edges.count[i]; k += kWarpSize) {
    const Offset e = number[i] + k;
    producer[e] = edges.column[edges.first[i] + k];
    edge[e] = e;
    row[e] = i;
    entry[e] = edges.first[i] + k;
  }
}

__global__ void take_successors(Offset edges, const Offset* edge, const Index* row, const Offset* entry, Index* column,
                                Offset* source) {
  const auto k = static_cast<Offset>(element());
  if (k >= edges) return;
  column[k] = row[edge[k]];
  source[k] = entry[edge[k]];
}

/// `producer` ascends.
__global__ void find_successors(Index rows, Offset edges, const Index* producer, Offset* first, Index* count) {
  const auto j = static_cast<Index>(element());
  if (j >= rows) return;
  const Offset begin = cuda::first_not_below(producer, Offset{0}, edges, j);
  first[j] = begin;
  count[j] = cuda::first_not_below(producer, begin, edges, j + 1) - begin;
}

/// *sum: the lanes of all rows.
__global__ void choose_lanes(Index rows, const Index* count, int entries_per_lane, std::uint8_t* log2,
                             unsigned long long* sum) {
  const auto row = static_cast<Index>(element());
  int lanes = 0;
  if (row < rows) {
    const unsigned chosen = entries_per_lane > 0 ? log2_lanes_for(count[row], entries_per_lane) : kMostLog2Lanes;
    log2[row] = static_cast<std::uint8_t>(chosen);
    lanes = 1 << chosen;
  }
  const int of_warp = __reduce_add_sync(kFullWarp, lanes);
  if (threadIdx.x % kWarpSize == 0) atomicAdd(sum, static_cast<unsigned long long>(of_warp));
}

__global__ void count_by_position(Index rows, const Index* count, const Index* order, Offset* of_position) {
  const auto p = static_cast<Index>(element());
  if (p <= rows) of_position[p] = p < rows ? count[order[p]] : 0;  // one more: the sum ends with the total
}

__global__ void copy_edges(Index rows, EdgeList edges, const Index* order, const Index* task_of_row,
                           const Offset* source_entry, const Offset* first, Index* column, Offset* source) {
  const auto p = static_cast<Index>(element() / kWarpSize);
  if (p >= rows) return;
  const Index row = order[p];
  for (Index k = static_cast<Index>(threadIdx.x) % kWarpSize; k < edges.count[row]; k += kWarpSize) {
    const Offset e = edges.first[row] + k;
    const Index other = edges.column[e];
    const Offset entry = edges.entry ? edges.entry[e] : e;
    const bool marked = task_of_row && task_of_row[other] == task_of_row[row];
    column[first[p] + k] = marked ? ~other : other;
    source[first[p] + k] = source_entry ? source_entry[entry] : entry;
  }
}

}  // namespace

FineDag make_fine_dag(const DevicePattern& pattern, Triangle triangle, const TriangleRanges& ranges,
                      const RowLevels& levels, cudaStream_t stream) {
  FineDag dag;
  dag.triangle = triangle;
  dag.rows = pattern.rows;
  if (dag.rows == 0) return dag;
  dag.column = pattern.col_indices;
  dag.first = ranges.first.data();
  dag.count = ranges.count.data();
  dag.level = levels.level.data();
  dag.edges = cuda::sum(dag.count, dag.rows, stream);
  const ScratchArray<Index> rows_of_level = count_rows_of_levels(levels, stream);
  dag.rows_of_level = cuda::fetch_array(rows_of_level.data(), rows_of_level.size(), stream);
  return dag;
}

Successors make_successors(const FineDag& dag, cudaStream_t stream) {
  const std::size_t rows = at(dag.rows);
  const std::size_t edges = at(dag.edges);
  Successors result{{rows, stream}, {rows, stream}, {edges, stream}, {edges, stream}};
  if (rows == 0) return result;
  const ScratchArray<Index> sorted_producer(edges, stream);
  if (edges > 0) {
    const ScratchArray<Offset> number(rows, stream);
    const ScratchArray<Index> producer(edges, stream);
    const ScratchArray<Offset> edge(edges, stream);
    const ScratchArray<Offset> sorted_edge(edges, stream);
    const ScratchArray<Index> row(edges, stream);
    const ScratchArray<Offset> entry(edges, stream);
    cuda::exclusive_sum(dag.count, number.data(), dag.rows, stream);
    list_edges<<<row_blocks(dag.rows), kElementBlock, 0, stream>>>(
        dag.rows, operands(dag), number.data(), producer.data(), edge.data(), row.data(), entry.data());
    cuda::check_launch("list_edges");
    const int bits = std::bit_width(static_cast<std::uint32_t>(dag.rows));
    cuda::sort_pairs(producer.data(), sorted_producer.data(), edge.data(), sorted_edge.data(), dag.edges, bits, stream);
    take_successors<<<element_blocks(dag.edges), kElementBlock, 0, stream>>>(
        dag.edges, sorted_edge.data(), row.data(), entry.data(), result.column.data(), result.entry.data());
    cuda::check_launch("take_successors");
  }
  find_successors<<<element_blocks(dag.rows), kElementBlock, 0, stream>>>(dag.rows, dag.edges, sorted_producer.data(),
                                                                          result.first.data(), result.count.data());
  cuda::check_launch("find_successors");
  return result;
}

RowLanes lanes_of_rows(Index rows, const Index* count, int entries_per_lane, cudaStream_t stream) {
  RowLanes lanes{{at(rows), stream}};
  if (rows == 0) return lanes;
  const ScratchArray<unsigned long long> sum(1, stream);
  cuda::check(cudaMemsetAsync(sum.data(), 0, sizeof(unsigned long long), stream), "resetting a sum");
  choose_lanes<<<element_blocks(rows), kElementBlock, 0, stream>>>(rows, count, entries_per_lane, lanes.log2.data(),
                                                                   sum.data());
  cuda::check_launch("choose_lanes");
  lanes.rows_per_warp = kWarpSize * static_cast<double>(rows) / static_cast<double>(cuda::fetch(sum.data(), stream));
  return lanes;
}

OrderedEdges order_edges(Index rows, const EdgeList& edges, const Index* order, const Index* task_of_row,
                         const Offset* source_entry, cudaStream_t stream) {
  OrderedEdges result{{at(rows) + 1, stream}, {}, {}};
  count_by_position<<<element_blocks(std::int64_t{rows} + 1), kElementBlock, 0, stream>>>(rows, edges.count, order,
                                                                                          result.first.data());
  cuda::check_launch("count_by_position");
  cuda::exclusive_sum(result.first.data(), result.first.data(), std::int64_t{rows} + 1, stream);
  const Offset total = cuda::fetch(result.first.data() + rows, stream);
  if (total == 0) return result;
  result.column = {at(total), stream};
  result.source = {at(total), stream};
  copy_edges<<<row_blocks(rows), kElementBlock, 0, stream>>>(
      rows, edges, order, task_of_row, source_entry, result.first.data(), result.column.data(), result.source.data());
  cuda::check_launch("copy_edges");
  cuda::synchronize(stream);
  return result;
}

}  // namespace taskdag::kernels
