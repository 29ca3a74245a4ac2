#include <utility>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/reduce.hpp"
#include "backends/cuda/scan.hpp"
#include "backends/cuda/seam.cuh"
#include "kernels/sptrsv/schedules/flat/parts.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::kFullWarp;
using cuda::kWarpSize;
using cuda::ScratchArray;

Index longest_row(const TriangleRanges& ranges, cudaStream_t stream) {
  const auto rows = static_cast<Index>(ranges.count.size());
  return rows == 0 ? 0 : cuda::largest(ranges.count.data(), rows, stream);
}

/// has_sums[l]: whether level l has long rows; cleared before.
__global__ void count_parts(Index rows, const Index* count, const Index* level, Index* parts, Index* has_sums) {
  const auto row = static_cast<Index>(element());
  if (row > rows) return;
  const bool cut = row < rows && count[row] > kPartEntries;
  parts[row] = cut ? (count[row] + kPartEntries - 1) / kPartEntries : 0;  // one more entry: the scan's total
  if (cut) has_sums[level[row]] = 1;
}

/// What is known of rows, and what items get.
struct Cut {
  Index rows;
  const Offset* first;
  const Index* count;
  const Index* level;
  const Index* first_part;   // of each row; behind the last row, their number
  const Index* levels_more;  // below each level: the levels that long rows have for themselves
  Index* row_of_part;
  Offset* item_first;
  Index* item_count;
  Index* item_level;

  __device__ Index renumbered(Index l) const { return l + levels_more[l]; }
};

__global__ void number_rows(const Cut cut) {
  const auto row = static_cast<Index>(element());
  if (row >= cut.rows) return;
  const Index begin = cut.first_part[row];
  const Index parts = cut.first_part[row + 1] - begin;
  cut.item_first[row] = parts > 0 ? ~(cut.rows + begin) : cut.first[row];
  cut.item_count[row] = parts > 0 ? parts : cut.count[row];
  cut.item_level[row] = cut.renumbered(cut.level[row]) + (parts > 0 ? 1 : 0);
  for (Index part = begin; part < begin + parts; ++part) cut.row_of_part[part] = row;
}

/// A warp a part. The parts of a row are equally long, but for one entry.
__global__ void __launch_bounds__(kElementBlock) number_parts(const Cut cut, Index parts, const Index* col_indices) {
  const auto part = static_cast<Index>(element() / kWarpSize);
  if (part >= parts) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const Index row = cut.row_of_part[part];
  const std::int64_t rank = part - cut.first_part[row];
  const std::int64_t of = cut.first_part[row + 1] - cut.first_part[row];
  const auto begin = static_cast<Index>(rank * cut.count[row] / of);
  const auto end = static_cast<Index>((rank + 1) * cut.count[row] / of);
  Index highest = 0;
  for (Index e = begin + lane; e < end; e += kWarpSize) {
    highest = max(highest, cut.level[col_indices[cut.first[row] + e]]);
  }
  highest = __reduce_max_sync(kFullWarp, highest);
  if (lane > 0) return;
  cut.item_first[cut.rows + part] = cut.first[row] + begin;
  cut.item_count[cut.rows + part] = end - begin;
  cut.item_level[cut.rows + part] = cut.renumbered(highest + 1);
}

}  // namespace

std::optional<CutTriangle> cut_long_rows(const DevicePattern& pattern, const TriangleRanges& ranges,
                                         const RowLevels& levels, cudaStream_t stream) {
  if (longest_row(ranges, stream) <= kPartEntries) return std::nullopt;
  const Index n = pattern.rows;
  const auto rows = static_cast<std::size_t>(n);
  const ScratchArray<Index> first_part(rows + 1, stream);
  const ScratchArray<Index> levels_more(static_cast<std::size_t>(levels.levels) + 1, stream);
  cuda::check(cudaMemsetAsync(levels_more.data(), 0, levels_more.size() * sizeof(Index), stream), "clearing marks");
  count_parts<<<element_blocks(std::int64_t{n} + 1), kElementBlock, 0, stream>>>(
      n, ranges.count.data(), levels.level.data(), first_part.data(), levels_more.data());
  cuda::check_launch("count_parts");
  cuda::exclusive_sum(first_part.data(), first_part.data(), n + 1, stream);
  cuda::exclusive_sum(levels_more.data(), levels_more.data(), levels.levels + 1, stream);
  const Index parts = cuda::fetch(first_part.data() + n, stream);
  const auto items = static_cast<std::size_t>(checked_offset(std::int64_t{n} + parts, "rows and parts of long ones"));
  CutTriangle result{
      parts,
      {ScratchArray<Offset>(items, stream), ScratchArray<Index>(items, stream)},
      {ScratchArray<Index>(items, stream), levels.levels + cuda::fetch(levels_more.data() + levels.levels, stream)}};
  const ScratchArray<Index> row_of_part(static_cast<std::size_t>(parts), stream);
  const Cut cut{n,
                ranges.first.data(),
                ranges.count.data(),
                levels.level.data(),
                first_part.data(),
                levels_more.data(),
                row_of_part.data(),
                result.ranges.first.data(),
                result.ranges.count.data(),
                result.levels.level.data()};
  number_rows<<<element_blocks(n), kElementBlock, 0, stream>>>(cut);
  cuda::check_launch("number_rows");
  number_parts<<<element_blocks(std::int64_t{parts} * kWarpSize), kElementBlock, 0, stream>>>(cut, parts,
                                                                                              pattern.col_indices);
  cuda::check_launch("number_parts");
  return result;
}

}  // namespace taskdag::kernels
