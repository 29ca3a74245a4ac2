#include <bit>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/scan.hpp"
#include "backends/cuda/seam.cuh"
#include "backends/cuda/sort.hpp"
#include "base/index.hpp"
#include "kernels/sptrsv/many/pack.hpp"

namespace taskdag::kernels::many {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::kFullWarp;
using cuda::kWarpSize;
using cuda::ScratchArray;

__device__ Index parts_of(Index count) { return count > kPartEntries ? pieces_of(count, kPartEntries) : 0; }

__global__ void count_parts(Index rows, const Index* count, Index* parts) {
  const auto row = static_cast<Index>(element());
  if (row <= rows) parts[row] = row < rows ? parts_of(count[row]) : 0;  // one more entry: the scan's total
}

/// An item is a row or, from `rows` on, a part. Keys put items in order: by level, parts before rows.
__global__ void make_items(Index rows, bool lower, const Index* level, const Index* first_part, std::uint32_t* key,
                           Index* item, Index* row_of_part) {
  const auto step = static_cast<Index>(element());
  if (step >= rows) return;
  const Index row = lower ? step : rows - 1 - step;
  const std::uint32_t group = 2 * static_cast<std::uint32_t>(level[row]);
  key[step] = group + 1;
  item[step] = row;
  for (Index part = first_part[row]; part < first_part[row + 1]; ++part) {
    key[rows + part] = group;
    item[rows + part] = rows + part;
    row_of_part[part] = row;
  }
}

struct Items {
  Index rows;
  Index slots;
  const Index* first;  // entries of rows
  const Index* count;
  const Index* first_part;
  const Index* row_of_part;

  __device__ Index entries(Index item) const {
    if (item < rows) {
      const Index parts = first_part[item + 1] - first_part[item];
      return parts > 0 ? parts : count[item];
    }
    const Index part = item - rows;
    const Index row = row_of_part[part];
    return min(kPartEntries, count[row] - (part - first_part[row]) * kPartEntries);
  }
};

/// place_of[item]; entries by place.
__global__ void number_places(Items items, const Index* item, Index* place_of, std::int64_t* entries) {
  const auto p = static_cast<Index>(element());
  if (p > items.slots) return;
  if (p < items.slots) place_of[item[p]] = p;
  entries[p] = p < items.slots ? items.entries(item[p]) : 0;  // one more entry: the scan's total
}

struct Output {
  Place* place;
  Index* column;
  Offset* source;
  Index* gate;
};

/// A warp a place.
///
/// gate: the slot of the row's latest operand below its highest operand level, −1 if there is none. Once it is
/// published the row is nearly due; until then looking at this one operand keeps the L2 cache free for others.
__global__ void __launch_bounds__(kElementBlock)
    pack_kernel(Items items, DevicePattern pattern, const Offset* source_entry, const Index* rhs_index,
                const Index* level, const Index* item, const Index* place_of, const std::int64_t* first_entry,
                Output output) {
  const auto p = static_cast<Index>(element() / kWarpSize);
  if (p >= items.slots) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const Index mine = item[p];
  const bool is_part = mine >= items.rows;
  const Index row = is_part ? items.row_of_part[mine - items.rows] : mine;
  const Index entries = items.entries(mine);
  const bool of_parts = !is_part && items.first_part[row + 1] > items.first_part[row];
  const auto to = static_cast<Offset>(first_entry[p]);
  if (lane == 0) output.place[p] = {to, entries, mine, rhs_index ? rhs_index[row] : row};
  Offset from = items.first[row];
  if (is_part) from += (mine - items.rows - items.first_part[row]) * kPartEntries;
  Index highest = -1;
  for (Index k = lane; k < entries; k += kWarpSize) {
    if (of_parts) {
      output.column[to + k] = items.rows + items.first_part[row] + k;
      output.source[to + k] = -1;
      continue;
    }
    const Index other = pattern.col_indices[from + k];
    output.source[to + k] = source_entry ? source_entry[from + k] : from + k;
    output.column[to + k] = other;
    highest = max(highest, level[other]);
  }
  highest = __reduce_max_sync(kFullWarp, highest);
  Index latest = -1;
  for (Index k = lane; k < entries && entries > kUngatedEntries && !of_parts; k += kWarpSize) {
    const Index other = pattern.col_indices[from + k];
    if (level[other] < highest) latest = max(latest, place_of[other]);
  }
  latest = __reduce_max_sync(kFullWarp, latest);
  if (lane == 0) output.gate[p] = latest < 0 ? -1 : item[latest];
}

}  // namespace

Packed pack(const SweepInput& input, cudaStream_t stream) {
  Packed result;
  const Index n = input.pattern.rows;
  if (n == 0) return result;
  const auto rows = static_cast<std::size_t>(n);

  const ScratchArray<Index> parts(rows + 1, stream);
  const ScratchArray<Index> first_part(rows + 1, stream);
  count_parts<<<element_blocks(std::int64_t{n} + 1), kElementBlock, 0, stream>>>(n, input.ranges->count.data(),
                                                                                 parts.data());
  cuda::check_launch("count_parts");
  cuda::exclusive_sum(parts.data(), first_part.data(), n + 1, stream);
  const Index all_parts = cuda::fetch(first_part.data() + n, stream);
  result.slots = checked_offset(std::int64_t{n} + all_parts, "a sweep over several right-hand sides");
  const auto slots = static_cast<std::size_t>(result.slots);

  const ScratchArray<std::uint32_t> key(slots, stream);
  const ScratchArray<std::uint32_t> sorted_key(slots, stream);
  const ScratchArray<Index> item(slots, stream);
  const ScratchArray<Index> order(slots, stream);
  const ScratchArray<Index> row_of_part(static_cast<std::size_t>(all_parts), stream);
  make_items<<<element_blocks(n), kElementBlock, 0, stream>>>(n, input.triangle == Triangle::lower,
                                                              input.levels->level.data(), first_part.data(), key.data(),
                                                              item.data(), row_of_part.data());
  cuda::check_launch("make_items");
  const int bits = std::bit_width(2 * static_cast<std::uint32_t>(input.levels->levels));
  cuda::sort_pairs(key.data(), sorted_key.data(), item.data(), order.data(), result.slots, bits, stream);

  const Items items{
      n, result.slots, input.ranges->first.data(), input.ranges->count.data(), first_part.data(), row_of_part.data()};
  const ScratchArray<Index> place_of(slots, stream);
  const ScratchArray<std::int64_t> entries(slots + 1, stream);
  const ScratchArray<std::int64_t> first_entry(slots + 1, stream);
  number_places<<<element_blocks(std::int64_t{result.slots} + 1), kElementBlock, 0, stream>>>(
      items, order.data(), place_of.data(), entries.data());
  cuda::check_launch("number_places");
  cuda::exclusive_sum(entries.data(), first_entry.data(), result.slots + 1, stream);
  result.entries =
      checked_offset(cuda::fetch(first_entry.data() + result.slots, stream), "a sweep over several right-hand sides");

  result.place = {slots, stream};
  result.column = {static_cast<std::size_t>(result.entries), stream};
  result.source = {static_cast<std::size_t>(result.entries), stream};
  result.gate = {slots, stream};
  pack_kernel<<<element_blocks(std::int64_t{result.slots} * kWarpSize), kElementBlock, 0, stream>>>(
      items, input.pattern, input.source_entry, input.rhs_index, input.levels->level.data(), order.data(),
      place_of.data(), first_entry.data(),
      {result.place.data(), result.column.data(), result.source.data(), result.gate.data()});
  cuda::check_launch("pack_kernel");
  return result;
}

}  // namespace taskdag::kernels::many
