#include <bit>
#include <limits>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/scan.hpp"
#include "backends/cuda/sort.hpp"
#include "csr/device_csr.hpp"
#include "csr/gather.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::ScratchArray;

/// One warp a row. It only stores, so that a long row costs bandwidth and not latency.
__global__ void expand_kernel(DevicePattern a, Index* row_of) {
  const auto row = static_cast<Index>(element() / 32);
  if (row >= a.rows) return;
  for (Offset e = a.row_offsets[row] + static_cast<Offset>(threadIdx.x % 32); e < a.row_offsets[row + 1]; e += 32) {
    row_of[e] = row;
  }
}

__global__ void permuted_keys(Offset entries, int column_bits, const Index* row_of, const Index* col_indices,
                              const Index* row_position, const Index* col_position, std::uint64_t* key,
                              Offset* source) {
  const auto e = static_cast<Offset>(element());
  if (e >= entries) return;
  key[e] = (static_cast<std::uint64_t>(row_position[row_of[e]]) << column_bits) |
           static_cast<std::uint64_t>(col_position[col_indices[e]]);
  source[e] = e;
}

__global__ void columns_kernel(std::int64_t count, std::uint64_t mask, const std::uint64_t* key, Index* column) {
  const std::int64_t k = element();
  if (k < count) column[k] = static_cast<Index>(key[k] & mask);
}

/// A row of more entries is not sorted in place, which takes time with its square.
constexpr Offset kLongRow = 1024;

constexpr Index kNoColumn = std::numeric_limits<Index>::max();

__global__ void permuted_row_lengths(Index rows, const Offset* row_offsets, const Index* row_order, Offset* length,
                                     int* any_long) {
  const auto i = static_cast<Index>(element());
  if (i > rows) return;
  length[i] = i < rows ? row_offsets[row_order[i] + 1] - row_offsets[row_order[i]] : 0;
  if (length[i] > kLongRow) atomicOr(any_long, 1);
}

/// kLanes lanes a row of the result. An entry's position in its row is the number of columns that are smaller.
template <int kLanes>
__global__ void permute_rows(DevicePattern a, const Index* row_order, const Index* col_position, DevicePattern result,
                             Index* col_indices, Offset* source) {
  const auto row = static_cast<Index>(element() / kLanes);
  if (row >= a.rows) return;
  const auto lane = static_cast<int>(threadIdx.x % kLanes);
  const unsigned lanes = (kLanes == 32 ? ~0U : (1U << kLanes) - 1) << (threadIdx.x % 32 - lane);
  const Offset from = a.row_offsets[row_order[row]];
  const Offset to = result.row_offsets[row];
  const Offset length = result.row_offsets[row + 1] - to;
  const auto column = [&](Offset k) { return k < length ? col_position[a.col_indices[from + k]] : kNoColumn; };
  for (Offset k = lane; k - lane < length; k += kLanes) {
    const Index mine = column(k);
    Offset position = to;
    for (Offset first = 0; first < length; first += kLanes) {
      const Index other = column(first + lane);
      for (int j = 0; j < kLanes; ++j) position += __shfl_sync(lanes, other, j, kLanes) < mine ? 1 : 0;
    }
    if (k >= length) continue;
    col_indices[position] = mine;
    source[position] = from + k;
  }
}

/// offsets[j] = first position whose sorted column is >= j.
__global__ void offsets_of_sorted(Index rows, Offset entries, const Index* sorted, Offset* offsets) {
  const auto j = static_cast<Index>(element());
  if (j <= rows) offsets[j] = cuda::first_not_below(sorted, 0, entries, j);
}

__global__ void rows_of_sources(Offset entries, const Offset* source, const Index* row_of, Index* col_indices) {
  const auto e = static_cast<Offset>(element());
  if (e < entries) col_indices[e] = row_of[source[e]];
}

__global__ void upper_lengths(DevicePattern a, const Offset* diagonal, Offset* length) {
  const auto i = static_cast<Index>(element());
  if (i > a.rows) return;
  length[i] = i < a.rows ? a.row_offsets[i + 1] - diagonal[i] : 0;
}

__global__ void copy_upper(DevicePattern a, const Offset* diagonal, const Offset* row_offsets, Index* col_indices,
                           Offset* source) {
  const auto row = static_cast<Index>(element() / 32);
  if (row >= a.rows) return;
  const Offset shift = diagonal[row] - row_offsets[row];
  for (Offset e = row_offsets[row] + static_cast<Offset>(threadIdx.x % 32); e < row_offsets[row + 1]; e += 32) {
    col_indices[e] = a.col_indices[e + shift];
    source[e] = e + shift;
  }
}

__global__ void diagonal_kernel(DevicePattern a, Offset* diagonal, Index* first_missing) {
  const auto row = static_cast<Index>(element());
  if (row >= a.rows) return;
  const Offset end = a.row_offsets[row + 1];
  const Offset found = cuda::first_not_below(a.col_indices, a.row_offsets[row], end, row);
  diagonal[row] = found;
  if (found == end || a.col_indices[found] != row) atomicMin(first_missing, row);
}

int bits_for(Index n) { return std::bit_width(static_cast<std::uint32_t>(n)); }

DeviceCsr make(Index rows, Offset entries, bool with_source, cudaStream_t stream) {
  const auto size = static_cast<std::size_t>(entries);
  DeviceCsr result{rows, entries, {static_cast<std::size_t>(rows) + 1, stream}, {size, stream}, {}};
  if (with_source) result.source = {size, stream};
  return result;
}

}  // namespace

void expand_rows(const DevicePattern& a, Index* row_of, cudaStream_t stream) {
  if (a.rows == 0) return;
  expand_kernel<<<element_blocks(std::int64_t{a.rows} * 32), kElementBlock, 0, stream>>>(a, row_of);
  cuda::check_launch("expand_kernel");
}

void columns_of_keys(std::int64_t count, int bits, const std::uint64_t* key, Index* column, cudaStream_t stream) {
  if (count == 0) return;
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  columns_kernel<<<element_blocks(count), kElementBlock, 0, stream>>>(count, mask, key, column);
  cuda::check_launch("columns_kernel");
}

DeviceCsr copy_pattern(const DevicePattern& pattern, cudaStream_t stream) {
  DeviceCsr result = make(pattern.rows, pattern.entries, false, stream);
  cuda::copy_on_device(result.row_offsets.data(), pattern.row_offsets, result.row_offsets.size(), stream);
  cuda::copy_on_device(result.col_indices.data(), pattern.col_indices, result.col_indices.size(), stream);
  return result;
}

namespace {

/// Where a row is too long to be sorted by itself: all entries at once, by row and column.
void permute_entries(const DevicePattern& a, const Index* row_order, const Index* col_position, DeviceCsr& result,
                     cudaStream_t stream) {
  const auto entries = static_cast<std::size_t>(a.entries);
  ScratchArray<Index> row_position(static_cast<std::size_t>(a.rows), stream);
  ScratchArray<Index> row_of(entries, stream);
  invert(a.rows, row_order, row_position.data(), stream);
  expand_rows(a, row_of.data(), stream);
  ScratchArray<std::uint64_t> key(entries, stream);
  ScratchArray<std::uint64_t> sorted_key(entries, stream);
  ScratchArray<Offset> source(entries, stream);
  const int bits = bits_for(a.rows);
  permuted_keys<<<element_blocks(a.entries), kElementBlock, 0, stream>>>(
      a.entries, bits, row_of.data(), a.col_indices, row_position.data(), col_position, key.data(), source.data());
  cuda::check_launch("permuted_keys");
  cuda::sort_pairs(key.data(), sorted_key.data(), source.data(), result.source.data(), a.entries, 2 * bits, stream);
  columns_of_keys(a.entries, bits, sorted_key.data(), result.col_indices.data(), stream);
}

template <int kLanes>
void permute_by_rows(const DevicePattern& a, const Index* row_order, const Index* col_position, DeviceCsr& result,
                     cudaStream_t stream) {
  permute_rows<kLanes><<<element_blocks(std::int64_t{a.rows} * kLanes), kElementBlock, 0, stream>>>(
      a, row_order, col_position, result.pattern(), result.col_indices.data(), result.source.data());
  cuda::check_launch("permute_rows");
}

}  // namespace

DeviceCsr permute_pattern(const DevicePattern& a, const Index* row_order, const Index* col_order, cudaStream_t stream) {
  constexpr Offset kFewEntries = 10;  // a row in the mean, that eight lanes are enough for
  DeviceCsr result = make(a.rows, a.entries, true, stream);
  const auto rows = static_cast<std::size_t>(a.rows);
  ScratchArray<Offset> length(rows + 1, stream);
  ScratchArray<int> any_long(1, stream);
  cuda::check(cudaMemsetAsync(any_long.data(), 0, sizeof(int), stream), "resetting a flag");
  permuted_row_lengths<<<element_blocks(std::int64_t{a.rows} + 1), kElementBlock, 0, stream>>>(
      a.rows, a.row_offsets, row_order, length.data(), any_long.data());
  cuda::check_launch("permuted_row_lengths");
  cuda::exclusive_sum(length.data(), result.row_offsets.data(), a.rows + 1, stream);
  if (a.entries == 0) return result;

  ScratchArray<Index> col_position(rows, stream);
  invert(a.rows, col_order, col_position.data(), stream);
  if (cuda::fetch(any_long.data(), stream) != 0) {
    permute_entries(a, row_order, col_position.data(), result, stream);
  } else if (a.entries <= kFewEntries * a.rows) {
    permute_by_rows<8>(a, row_order, col_position.data(), result, stream);
  } else {
    permute_by_rows<32>(a, row_order, col_position.data(), result, stream);
  }
  return result;
}

DeviceCsr transpose_pattern(const DevicePattern& a, cudaStream_t stream) {
  DeviceCsr result = make(a.rows, a.entries, true, stream);
  const auto entries = static_cast<std::size_t>(a.entries);
  ScratchArray<Index> sorted(entries, stream);
  if (a.entries > 0) {
    ScratchArray<Offset> identity(entries, stream);
    ScratchArray<Index> row_of(entries, stream);
    number(a.entries, identity.data(), stream);
    cuda::sort_pairs(a.col_indices, sorted.data(), identity.data(), result.source.data(), a.entries, bits_for(a.rows),
                     stream);
    expand_rows(a, row_of.data(), stream);
    rows_of_sources<<<element_blocks(a.entries), kElementBlock, 0, stream>>>(a.entries, result.source.data(),
                                                                             row_of.data(), result.col_indices.data());
    cuda::check_launch("rows_of_sources");
  }
  offsets_of_sorted<<<element_blocks(std::int64_t{a.rows} + 1), kElementBlock, 0, stream>>>(
      a.rows, a.entries, sorted.data(), result.row_offsets.data());
  cuda::check_launch("offsets_of_sorted");
  return result;
}

DeviceCsr upper_pattern(const DevicePattern& a, const Offset* diagonal, cudaStream_t stream) {
  const auto rows = static_cast<std::size_t>(a.rows);
  ScratchArray<Offset> length(rows + 1, stream);
  cuda::DeviceArray<Offset> row_offsets(rows + 1, stream);
  upper_lengths<<<element_blocks(std::int64_t{a.rows} + 1), kElementBlock, 0, stream>>>(a, diagonal, length.data());
  cuda::check_launch("upper_lengths");
  cuda::exclusive_sum(length.data(), row_offsets.data(), a.rows + 1, stream);
  const Offset entries = cuda::fetch(row_offsets.data() + a.rows, stream);
  const auto size = static_cast<std::size_t>(entries);
  DeviceCsr result{a.rows, entries, std::move(row_offsets), {size, stream}, {size, stream}};
  if (entries == 0) return result;
  copy_upper<<<element_blocks(std::int64_t{a.rows} * 32), kElementBlock, 0, stream>>>(
      a, diagonal, result.row_offsets.data(), result.col_indices.data(), result.source.data());
  cuda::check_launch("copy_upper");
  return result;
}

Index find_diagonal(const DevicePattern& a, Offset* diagonal, cudaStream_t stream) {
  if (a.rows == 0) return -1;
  ScratchArray<Index> first_missing(1, stream);
  cuda::check(cudaMemsetAsync(first_missing.data(), 0x7F, sizeof(Index), stream), "resetting a flag");
  diagonal_kernel<<<element_blocks(a.rows), kElementBlock, 0, stream>>>(a, diagonal, first_missing.data());
  cuda::check_launch("diagonal_kernel");
  const Index row = cuda::fetch(first_missing.data(), stream);
  return row < a.rows ? row : -1;
}

}  // namespace taskdag::kernels
