#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/seam.cuh"
#include "base/hash.hpp"
#include "kernels/sptrsv/analysis/features.hpp"
#include "kernels/sptrsv/analysis/measure.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::kFullWarp;
using cuda::kWarpSize;

struct Counts {
  Offset entries;
  Index longest_row;
  Index widest_level;
};

/// One thread a row counts, the lanes of a warp add up.
__global__ void count_entries(Index rows, const Index* count, Counts* counts) {
  const auto row = static_cast<Index>(element());
  const Index mine = row < rows ? count[row] : 0;
  const int entries = __reduce_add_sync(kFullWarp, mine);
  const Index longest = __reduce_max_sync(kFullWarp, mine);
  if (threadIdx.x % kWarpSize == 0) {
    atomicAdd(&counts->entries, entries);
    atomicMax(&counts->longest_row, longest);
  }
}

/// rows_of_level[l] counts the rows of level l; lanes with the same level add once.
__global__ void count_levels(Index rows, const Index* level, Index* rows_of_level) {
  const auto row = static_cast<Index>(element());
  const Index mine = row < rows ? level[row] : -1;
  const unsigned same = __match_any_sync(kFullWarp, mine);
  const bool leads = __ffs(static_cast<int>(same)) - 1 == static_cast<int>(threadIdx.x) % kWarpSize;
  if (leads && mine >= 0) atomicAdd(rows_of_level + mine, __popc(same));
}

__global__ void find_widest(Index levels, const Index* rows_of_level, Counts* counts) {
  const auto level = static_cast<Index>(element());
  const Index widest = __reduce_max_sync(kFullWarp, level < levels ? rows_of_level[level] : 0);
  if (threadIdx.x % kWarpSize == 0) atomicMax(&counts->widest_level, widest);
}

/// One warp a row; the sum does not depend on the order.
__global__ void hash_rows(DevicePattern pattern, const Offset* first, const Index* count, unsigned long long* hash) {
  const auto row = static_cast<Index>(element() / kWarpSize);
  if (row >= pattern.rows) return;
  std::uint64_t sum = 0;
  for (Index k = static_cast<Index>(threadIdx.x) % kWarpSize; k < count[row]; k += kWarpSize) {
    sum += hash_of_entry(row, pattern.col_indices[first[row] + k]);
  }
  for (int offset = kWarpSize / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(kFullWarp, sum, offset);
  if (threadIdx.x % kWarpSize == 0 && sum != 0) atomicAdd(hash, static_cast<unsigned long long>(sum));
}

}  // namespace

std::uint64_t hash_triangle(const DevicePattern& pattern, const TriangleRanges& ranges, cudaStream_t stream) {
  if (pattern.rows == 0) return 0;
  cuda::ScratchArray<unsigned long long> hash(1, stream);
  cuda::check(cudaMemsetAsync(hash.data(), 0, sizeof(unsigned long long), stream), "resetting a hash");
  hash_rows<<<element_blocks(std::int64_t{pattern.rows} * kWarpSize), kElementBlock, 0, stream>>>(
      pattern, ranges.first.data(), ranges.count.data(), hash.data());
  cuda::check_launch("hash_rows");
  return cuda::fetch(hash.data(), stream);
}

cuda::ScratchArray<Index> count_rows_of_levels(const RowLevels& levels, cudaStream_t stream) {
  cuda::ScratchArray<Index> result(static_cast<std::size_t>(levels.levels), stream);
  const auto rows = static_cast<Index>(levels.level.size());
  if (rows == 0) return result;
  cuda::check(cudaMemsetAsync(result.data(), 0, result.size() * sizeof(Index), stream), "resetting counts");
  count_levels<<<element_blocks(rows), kElementBlock, 0, stream>>>(rows, levels.level.data(), result.data());
  cuda::check_launch("count_levels");
  return result;
}

TriangleFeatures measure_features(const DevicePattern& pattern, const TriangleRanges& ranges, const RowLevels& levels,
                                  cudaStream_t stream) {
  TriangleFeatures features;
  features.rows = pattern.rows;
  features.levels = levels.levels;
  if (pattern.rows == 0) return features;
  cuda::ScratchArray<Counts> counts(1, stream);
  cuda::check(cudaMemsetAsync(counts.data(), 0, sizeof(Counts), stream), "resetting counts");
  count_entries<<<element_blocks(pattern.rows), kElementBlock, 0, stream>>>(pattern.rows, ranges.count.data(),
                                                                            counts.data());
  cuda::check_launch("count_entries");
  const cuda::ScratchArray<Index> rows_of_level = count_rows_of_levels(levels, stream);
  find_widest<<<element_blocks(levels.levels), kElementBlock, 0, stream>>>(levels.levels, rows_of_level.data(),
                                                                           counts.data());
  cuda::check_launch("find_widest");
  const Counts found = cuda::fetch(counts.data(), stream);
  features.entries = found.entries;
  features.widest_level = found.widest_level;
  features.longest_row = found.longest_row;
  return features;
}

}  // namespace taskdag::kernels
