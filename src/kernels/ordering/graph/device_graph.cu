#include <bit>
#include <cub/device/device_select.cuh>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/scan.hpp"
#include "backends/cuda/sort.hpp"
#include "base/index.hpp"
#include "csr/device_csr.hpp"
#include "kernels/ordering/graph/device_graph.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::ScratchArray;
using cuda::with_scratch;

__global__ void look_for_partners(DevicePattern a, const Index* row_of, int* lonely) {
  const auto e = static_cast<Offset>(element());
  if (e >= a.entries) return;
  const Index row = row_of[e];
  const Index column = a.col_indices[e];
  const Offset end = a.row_offsets[column + 1];
  const Offset found = cuda::first_not_below(a.col_indices, a.row_offsets[column], end, row);
  if (found == end || a.col_indices[found] != row) *lonely = 1;
}

/// degree[rows] is 0: the sum over rows + 1 of them ends with their total.
__global__ void degrees_without_diagonal(DevicePattern a, EdgeOffset* degree) {
  const auto row = static_cast<Index>(element());
  if (row > a.rows) return;
  if (row == a.rows) {
    degree[row] = 0;
    return;
  }
  const Offset begin = a.row_offsets[row];
  const Offset end = a.row_offsets[row + 1];
  const Offset found = cuda::first_not_below(a.col_indices, begin, end, row);
  const bool diagonal = found != end && a.col_indices[found] == row;
  degree[row] = end - begin - (diagonal ? 1 : 0);
}

__global__ void copy_without_diagonal(DevicePattern a, const Index* row_of, const EdgeOffset* offsets,
                                      Index* neighbours) {
  const auto e = static_cast<Offset>(element());
  if (e >= a.entries) return;
  const Index row = row_of[e];
  const Index column = a.col_indices[e];
  if (column == row) return;
  const Offset begin = a.row_offsets[row];
  const EdgeOffset first = offsets[row];
  const bool diagonal = offsets[row + 1] - first < a.row_offsets[row + 1] - begin;
  neighbours[first + (e - begin) - (diagonal && column > row ? 1 : 0)] = column;
}

/// Every entry in both directions; entries on the diagonal become row `rows`, which sorts last.
__global__ void keys_both_ways(DevicePattern a, const Index* row_of, int bits, std::uint64_t* key) {
  const auto e = static_cast<Offset>(element());
  if (e >= a.entries) return;
  const auto row = static_cast<std::uint64_t>(row_of[e]);
  const auto column = static_cast<std::uint64_t>(a.col_indices[e]);
  const std::uint64_t none = static_cast<std::uint64_t>(a.rows) << bits;
  key[e] = row == column ? none : (row << bits) | column;
  key[std::int64_t{a.entries} + e] = row == column ? none : (column << bits) | row;
}

/// offsets[row] = first index whose key is of that row or a later one.
__global__ void offsets_of_keys(Index rows, std::int64_t count, int bits, const std::uint64_t* key,
                                EdgeOffset* offsets) {
  const auto row = static_cast<Index>(element());
  if (row > rows) return;
  offsets[row] = cuda::first_not_below(key, EdgeOffset{0}, EdgeOffset{count}, static_cast<std::uint64_t>(row) << bits);
}

ScratchArray<Index> rows_of_entries(const DevicePattern& a, cudaStream_t stream) {
  ScratchArray<Index> row_of(at(a.entries), stream);
  expand_rows(a, row_of.data(), stream);
  return row_of;
}

bool all_have_partners(const DevicePattern& a, const Index* row_of, cudaStream_t stream) {
  const ScratchArray<int> lonely(1, stream);
  cuda::check(cudaMemsetAsync(lonely.data(), 0, sizeof(int), stream), "clearing a flag");
  look_for_partners<<<element_blocks(a.entries), kElementBlock, 0, stream>>>(a, row_of, lonely.data());
  cuda::check_launch("look_for_partners");
  return cuda::fetch(lonely.data(), stream) == 0;
}

DeviceGraph graph_of_symmetric(const DevicePattern& a, const Index* row_of, cudaStream_t stream) {
  const Index count = a.rows + 1;
  const ScratchArray<EdgeOffset> degree(at(count), stream);
  ScratchArray<EdgeOffset> offsets(at(count), stream);
  degrees_without_diagonal<<<element_blocks(count), kElementBlock, 0, stream>>>(a, degree.data());
  cuda::check_launch("degrees_without_diagonal");
  cuda::exclusive_sum(degree.data(), offsets.data(), count, stream);
  const EdgeOffset entries = cuda::fetch(offsets.data() + a.rows, stream);
  ScratchArray<Index> neighbours(static_cast<std::size_t>(entries), stream);
  copy_without_diagonal<<<element_blocks(a.entries), kElementBlock, 0, stream>>>(a, row_of, offsets.data(),
                                                                                 neighbours.data());
  cuda::check_launch("copy_without_diagonal");
  return {a.rows, entries, std::move(offsets), std::move(neighbours)};
}

DeviceGraph graph_of_general(const DevicePattern& a, const Index* row_of, cudaStream_t stream) {
  const std::int64_t count = 2 * std::int64_t{a.entries};
  const auto size = static_cast<std::size_t>(count);
  const int bits = std::bit_width(static_cast<std::uint32_t>(a.rows));  // row `rows` is a key too
  ScratchArray<std::uint64_t> key(size, stream);
  ScratchArray<std::uint64_t> sorted(size, stream);
  keys_both_ways<<<element_blocks(a.entries), kElementBlock, 0, stream>>>(a, row_of, bits, key.data());
  cuda::check_launch("keys_both_ways");
  cuda::sort_keys(key.data(), sorted.data(), count, 2 * bits, stream);
  const ScratchArray<std::int64_t> distinct(1, stream);
  with_scratch(
      [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceSelect::Unique(scratch, bytes, sorted.data(), key.data(), distinct.data(), count, stream);
      },
      stream);
  const std::int64_t found = cuda::fetch(distinct.data(), stream);
  ScratchArray<EdgeOffset> offsets(at(a.rows) + 1, stream);
  offsets_of_keys<<<element_blocks(std::int64_t{a.rows} + 1), kElementBlock, 0, stream>>>(a.rows, found, bits,
                                                                                          key.data(), offsets.data());
  cuda::check_launch("offsets_of_keys");
  const EdgeOffset entries = cuda::fetch(offsets.data() + a.rows, stream);
  ScratchArray<Index> neighbours(static_cast<std::size_t>(entries), stream);
  columns_of_keys(entries, bits, key.data(), neighbours.data(), stream);
  return {a.rows, entries, std::move(offsets), std::move(neighbours)};
}

}  // namespace

bool has_symmetric_pattern(const DevicePattern& a, cudaStream_t stream) {
  if (a.entries == 0) return true;
  const ScratchArray<Index> row_of = rows_of_entries(a, stream);
  return all_have_partners(a, row_of.data(), stream);
}

DeviceGraph symmetrised_graph(const DevicePattern& a, cudaStream_t stream) {
  if (a.entries == 0) {
    ScratchArray<EdgeOffset> offsets(at(a.rows) + 1, stream);
    cuda::check(cudaMemsetAsync(offsets.data(), 0, offsets.size() * sizeof(EdgeOffset), stream), "clearing offsets");
    return {a.rows, 0, std::move(offsets), {0, stream}};
  }
  const ScratchArray<Index> row_of = rows_of_entries(a, stream);
  return all_have_partners(a, row_of.data(), stream) ? graph_of_symmetric(a, row_of.data(), stream)
                                                     : graph_of_general(a, row_of.data(), stream);
}

}  // namespace taskdag::kernels
