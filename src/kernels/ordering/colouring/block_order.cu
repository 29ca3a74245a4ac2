/// \file
/// The block multicolour ordering on the device, from blocks that are known.
#include <cub/device/device_select.cuh>
#include <numeric>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/scan.hpp"
#include "backends/cuda/sort.hpp"
#include "kernels/ordering/colouring/aggregation_cuda.hpp"
#include "kernels/ordering/colouring/block_order_cuda.hpp"
#include "kernels/ordering/colouring/colour_cuda.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::ScratchArray;

int bits_of(std::uint64_t most) {
  int bits = 1;
  while (bits < 64 && (most >> static_cast<unsigned>(bits)) != 0) ++bits;
  return bits;
}

__global__ void identity_kernel(Index size, Index* out) {
  const auto i = static_cast<Index>(element());
  if (i < size) out[i] = i;
}

/// Rows by key, equal ones by index, and how many rows each key has.
struct SortedRows {
  ScratchArray<Index> order;
  ScratchArray<Index> key;  ///< by position
  std::vector<Index> count;
};

/// Where each key begins. @pre key ascends
__global__ void begins_kernel(Index size, const Index* key, Index keys, Index* begin) {
  const auto k = static_cast<Index>(element());
  if (k > keys) return;
  begin[k] = cuda::first_not_below(key, 0, size, k);
}

SortedRows sort_rows(const Index* key, Index rows, Index keys, cudaStream_t stream) {
  const auto size = static_cast<std::size_t>(rows);
  const ScratchArray<Index> natural(size, stream);
  SortedRows sorted{ScratchArray<Index>(size, stream), ScratchArray<Index>(size, stream), {}};
  identity_kernel<<<element_blocks(rows), kElementBlock, 0, stream>>>(rows, natural.data());
  cuda::check_launch("identity_kernel");
  cuda::sort_pairs(key, sorted.key.data(), natural.data(), sorted.order.data(), rows,
                   bits_of(static_cast<std::uint64_t>(keys)), stream);
  const ScratchArray<Index> begin(static_cast<std::size_t>(keys) + 1, stream);
  begins_kernel<<<element_blocks(std::int64_t{keys} + 1), kElementBlock, 0, stream>>>(rows, sorted.key.data(), keys,
                                                                                      begin.data());
  cuda::check_launch("begins_kernel");
  const std::vector<Index> begins = cuda::fetch_array(begin.data(), begin.size(), stream);
  sorted.count.resize(static_cast<std::size_t>(keys));
  for (std::size_t k = 0; k < sorted.count.size(); ++k) sorted.count[k] = begins[k + 1] - begins[k];
  return sorted;
}

/// The final block of the row at each position, and of each row.
__global__ void number_kernel(Index rows, const Index* order, const Index* offsets, Index blocks, Index* at_position,
                              Index* of_row) {
  const auto position = static_cast<Index>(element());
  if (position >= rows) return;
  const Index block = cuda::first_not_below(offsets, 0, blocks + 1, position + 1) - 1;
  at_position[position] = block;
  of_row[order[position]] = block;
}

/// Calls found(p, q), p < q, for the pairs of blocks that the edges of a row couple: edges from the smaller block, and
/// of neighbours in a row that lie in the same block the first one.
template <class Found>
__device__ void for_couplings(const GraphView& graph, const Index* block, Index row, const Found& found) {
  const Index mine = block[row];
  Index previous = -1;
  const EdgeOffset end = graph.end(row);
  for (EdgeOffset e = graph.begin(row); e < end; ++e) {
    const Index other = block[graph.neighbours[e]];
    if (other > mine && other != previous) found(mine, other);
    previous = other;
  }
}

__global__ void count_couplings_kernel(GraphView graph, const Index* block, std::int64_t* count) {
  const auto row = static_cast<Index>(element());
  if (row >= graph.nodes) return;
  std::int64_t found = 0;
  for_couplings(graph, block, row, [&](Index, Index) { ++found; });
  count[row] = found;
}

template <class Key>
__global__ void list_couplings_kernel(GraphView graph, const Index* block, Key blocks, const std::int64_t* end,
                                      Key* pair) {
  const auto row = static_cast<Index>(element());
  if (row >= graph.nodes) return;
  std::int64_t next = row == 0 ? 0 : end[row - 1];
  for_couplings(graph, block, row,
                [&](Index p, Index q) { pair[next++] = static_cast<Key>(p) * blocks + static_cast<Key>(q); });
}

/// Lists, sorts, and leaves each pair once. Key: a type that holds blocks².
template <class Key>
std::vector<std::uint64_t> list_couplings(const GraphView& graph, const Index* block, Index blocks,
                                          const std::int64_t* end, std::int64_t total, cudaStream_t stream) {
  const auto size = static_cast<std::size_t>(total);
  const ScratchArray<Key> pairs(size, stream);
  const ScratchArray<Key> sorted(size, stream);
  const ScratchArray<std::int64_t> kept(1, stream);
  const auto count = static_cast<Key>(blocks);
  list_couplings_kernel<<<element_blocks(graph.nodes), kElementBlock, 0, stream>>>(graph, block, count, end,
                                                                                   pairs.data());
  cuda::check_launch("list_couplings_kernel");
  const int bits = bits_of(static_cast<std::uint64_t>(blocks) * static_cast<std::uint64_t>(blocks));
  cuda::sort_keys(pairs.data(), sorted.data(), total, std::min(bits, static_cast<int>(8 * sizeof(Key))), stream);
  cuda::with_scratch(
      [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceSelect::Unique(scratch, bytes, sorted.data(), pairs.data(), kept.data(), total, stream);
      },
      stream);
  const std::vector<Key> unique =
      cuda::fetch_array(pairs.data(), static_cast<std::size_t>(cuda::fetch(kept.data(), stream)), stream);
  return {unique.begin(), unique.end()};
}

std::vector<std::uint64_t> find_couplings(const GraphView& graph, const Index* block, Index blocks,
                                          cudaStream_t stream) {
  const ScratchArray<std::int64_t> end(static_cast<std::size_t>(graph.nodes), stream);
  count_couplings_kernel<<<element_blocks(graph.nodes), kElementBlock, 0, stream>>>(graph, block, end.data());
  cuda::check_launch("count_couplings_kernel");
  cuda::inclusive_sum(end.data(), end.data(), graph.nodes, stream);
  const std::int64_t total = cuda::fetch(end.data() + graph.nodes - 1, stream);
  if (total == 0) return {};
  constexpr Index kMostFor32Bits = 65536;
  return blocks <= kMostFor32Bits ? list_couplings<std::uint32_t>(graph, block, blocks, end.data(), total, stream)
                                  : list_couplings<std::uint64_t>(graph, block, blocks, end.data(), total, stream);
}

__global__ void order_kernel(Index rows, const Index* sorted, const Index* block, const Index* from, const Index* to,
                             Index* order) {
  const auto position = static_cast<Index>(element());
  if (position >= rows) return;
  const Index p = block[position];
  order[to[p] + (position - from[p])] = sorted[position];
}

__global__ void narrow_kernel(std::int64_t size, const EdgeOffset* in, Offset* out) {
  const std::int64_t i = element();
  if (i < size) out[i] = static_cast<Offset>(in[i]);
}

}  // namespace

DeviceBlockOrdering order_by_blocks(const DeviceGraph& graph, const BlockSize& size, cudaStream_t stream) {
  DeviceBlockOrdering made;
  BlockOrdering& result = made.blocks;
  const Index rows = graph.nodes;
  const DeviceAggregation aggregation = aggregate(graph, size, stream);
  result.block_size = aggregation.block_size;
  result.shape = aggregation.shape;
  const SortedRows sorted = sort_rows(aggregation.block.data(), rows, aggregation.blocks, stream);

  const std::vector<Index> offsets = cut_blocks(sorted.count, result.block_size);
  const auto blocks = static_cast<Index>(offsets.size()) - 1;
  const auto from = cuda::upload<ScratchArray>(offsets, stream);
  const ScratchArray<Index> of_row(static_cast<std::size_t>(rows), stream);
  Index* const at_position = sorted.key.data();  // no longer needed as it was
  number_kernel<<<element_blocks(rows), kElementBlock, 0, stream>>>(rows, sorted.order.data(), from.data(), blocks,
                                                                    at_position, of_row.data());
  cuda::check_launch("number_kernel");

  BlockPositions positions = arrange_blocks(offsets, find_couplings(graph.view(), of_row.data(), blocks, stream));
  const auto to = cuda::upload<ScratchArray>(positions.first, stream);
  made.order = {static_cast<std::size_t>(rows), stream};
  order_kernel<<<element_blocks(rows), kElementBlock, 0, stream>>>(rows, sorted.order.data(), at_position, from.data(),
                                                                   to.data(), made.order.data());
  cuda::check_launch("order_kernel");
  result.blocks = std::move(positions.blocks);
  cuda::synchronize(stream);
  return made;
}

DeviceBlockOrdering order_by_points(const DeviceGraph& graph, cudaStream_t stream) {
  DeviceBlockOrdering made;
  BlockOrdering& result = made.blocks;
  result.block_size = 1;
  const Index rows = graph.nodes;
  const ScratchArray<Offset> offsets(static_cast<std::size_t>(rows) + 1, stream);
  const ScratchArray<Index> colour(static_cast<std::size_t>(rows), stream);
  const Offset entries = checked_offset(graph.entries, "the graph of the rows");
  narrow_kernel<<<element_blocks(std::int64_t{rows} + 1), kElementBlock, 0, stream>>>(
      std::int64_t{rows} + 1, graph.offsets.data(), offsets.data());
  cuda::check_launch("narrow_kernel");
  const Index colours =
      cuda_colour_graph({rows, entries, offsets.data(), graph.neighbours.data()}, {}, colour.data(), stream);
  const SortedRows sorted = sort_rows(colour.data(), rows, colours, stream);
  made.order = cuda::copy_of(sorted.order.data(), sorted.order.size(), stream);
  result.blocks.block_offsets.resize(static_cast<std::size_t>(rows) + 1);
  std::iota(result.blocks.block_offsets.begin(), result.blocks.block_offsets.end(), Index{0});
  result.blocks.colour_offsets.resize(sorted.count.size() + 1);
  std::inclusive_scan(sorted.count.begin(), sorted.count.end(), result.blocks.colour_offsets.begin() + 1);
  cuda::synchronize(stream);
  return made;
}

}  // namespace taskdag::kernels
