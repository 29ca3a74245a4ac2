#include "backends/cuda/algorithm.cuh"
#include "kernels/sptrsv/analysis/levels.hpp"
#include "kernels/sptrsv/analysis/longest_path.cuh"

namespace taskdag::kernels {
namespace {

__global__ void triangle_ranges(DevicePattern pattern, bool lower, Offset* first, Index* count) {
  const Index row = static_cast<Index>(cuda::element());
  if (row >= pattern.rows) return;
  const Offset begin = pattern.row_offsets[row];
  const Offset end = pattern.row_offsets[row + 1];
  // First entry with column >= row (lower) or > row (upper).
  const Offset split = cuda::first_not_below(pattern.col_indices, begin, end, lower ? row : row + 1);
  first[row] = lower ? begin : split;
  count[row] = lower ? split - begin : end - split;
}

/// Levels. MayStop: all warps end soon after a row has the level `last`.
template <bool MayStop>
struct LevelPath {
  using Length = Index;
  static constexpr Index kUnknown = -1;
  static constexpr bool kMayStop = MayStop;

  int* highest_of_all;
  int* stop;  ///< raised when a row has the level `last`: no more is wanted
  Index last;
  Index highest = -1;

  static __device__ Index longer(Index a, Index b) { return max(a, b); }
  static __device__ Index longest(Index level) { return __reduce_max_sync(cuda::kFullWarp, level); }
  [[nodiscard]] __device__ Index grown(Index level, Index /*from*/, Index /*to*/) const { return level + 1; }
  __device__ void settle(Index level) {
    highest = max(highest, level);
    if (kMayStop && level >= last) cuda::DeviceAtomic<int>(*stop).store(1, ::cuda::memory_order_relaxed);
  }
  [[nodiscard]] __device__ bool stopped() const {
    return cuda::DeviceAtomic<int>(*stop).load(::cuda::memory_order_relaxed) != 0;
  }
  __device__ void finish(int lane) const {
    const Index of_warp = longest(highest);
    if (lane == 0 && of_warp >= 0) {
      cuda::DeviceAtomic<int>(*highest_of_all).fetch_max(of_warp, ::cuda::memory_order_relaxed);
    }
  }
};

}  // namespace

TriangleRanges find_triangle(const DevicePattern& pattern, Triangle triangle, cudaStream_t stream) {
  const auto rows = static_cast<std::size_t>(pattern.rows);
  TriangleRanges ranges{{rows, stream}, {rows, stream}};
  if (pattern.rows == 0) return ranges;
  triangle_ranges<<<cuda::element_blocks(pattern.rows), cuda::kElementBlock, 0, stream>>>(
      pattern, triangle == Triangle::lower, ranges.first.data(), ranges.count.data());
  cuda::check_launch("triangle_ranges");
  return ranges;
}

namespace {

/// `most`: as for count_levels_up_to(); 0: all levels are wanted. The number of levels, if there are not more.
template <bool kMayStop>
RowLevels analyse(const DevicePattern& pattern, const TriangleRanges& ranges, Triangle triangle, Index most,
                  cudaStream_t stream) {
  RowLevels result{{static_cast<std::size_t>(pattern.rows), stream}, 0};
  if (pattern.rows == 0) return result;
  cuda::ScratchArray<int> state(3, stream);  // ticket counter, highest level, whether to stop
  cuda::check(cudaMemsetAsync(state.data(), 0, 3 * sizeof(int), stream), "resetting the level analysis");
  cuda::check(cudaMemsetAsync(result.level.data(), 0xFF, result.level.size() * sizeof(Index), stream),
              "resetting the level analysis");
  find_longest_paths(pattern, ranges, triangle, LevelPath<kMayStop>{state.data() + 1, state.data() + 2, most - 1},
                     result.level.data(), state.data(), stream);
  const auto found = cuda::fetch_array(state.data() + 1, 2, stream);
  result.levels = found[1] != 0 ? most : found[0] + 1;
  return result;
}

}  // namespace

RowLevels compute_levels(const DevicePattern& pattern, const TriangleRanges& ranges, Triangle triangle,
                         cudaStream_t stream) {
  return analyse<false>(pattern, ranges, triangle, 0, stream);
}

Index count_levels_up_to(const DevicePattern& pattern, const TriangleRanges& ranges, Triangle triangle, Index most,
                         cudaStream_t stream) {
  return analyse<true>(pattern, ranges, triangle, most, stream).levels;
}

}  // namespace taskdag::kernels
