#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "backends/cuda/seam.cuh"
#include "kernels/sptrsv/cuda.hpp"

namespace taskdag::kernels {
namespace {

using cuda::DeviceAtomic;
using cuda::kFullWarp;
using cuda::kWarpSize;
using cuda::TicketCounter;

constexpr int kBlock = 256;
constexpr int kLevelBatch = 4;
// Rows with more entries are read by the whole warp.
constexpr Index kLongRow = 256;
// Warps in flight per multiprocessor: each waiting warp polls, and beyond this the polls slow the hops down.
constexpr int kLevelWarpsPerMultiprocessor = 32;

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

/// One of the 32 rows of a chunk, and how far its lane has come.
struct LaneRow {
  bool lower;
  Index n;
  Index base;  // first step of the chunk; a step is a row's place in the sweep
  const Index* columns;
  Offset first;    // entries [first, first + count); those of an upper triangle are taken from the back, so that both
  Index count;     // directions meet the operands of the earliest steps first
  Index next = 0;  // entries taken so far
  Index level = 0;
  unsigned inside = 0;  // lanes of this warp that the row waits for and has not heard of
  Index other[kLevelBatch];
  bool missing[kLevelBatch];

  __device__ Index step_of(Index row) const { return lower ? row : n - 1 - row; }
  __device__ Index column(Index e) const { return __ldg(columns + (lower ? first + e : first + count - 1 - e)); }

  /// Takes entry e: from another lane of the warp, or (returned) a row to ask the memory for; −1: none.
  __device__ Index take(Index e) {
    const Index row = column(e);
    const Index step = step_of(row);
    if (step >= base) {
      inside |= 1U << (step - base);
      return -1;
    }
    return row;
  }
  __device__ void take_batch() {
#pragma unroll
    for (int k = 0; k < kLevelBatch; ++k) {
      other[k] = next + k < count ? take(next + k) : -1;
      missing[k] = other[k] >= 0;
    }
    next += kLevelBatch;
  }
  __device__ bool batch_missing() const {
    bool any = false;
#pragma unroll
    for (int k = 0; k < kLevelBatch; ++k) any = any || missing[k];
    return any;
  }
  __device__ void poll(Index* levels) {
    Index value[kLevelBatch];
#pragma unroll
    for (int k = 0; k < kLevelBatch; ++k) {
      if (missing[k]) value[k] = DeviceAtomic<Index>(levels[other[k]]).load(::cuda::memory_order_relaxed);
    }
#pragma unroll
    for (int k = 0; k < kLevelBatch; ++k) {
      if (missing[k] && value[k] >= 0) {
        level = max(level, value[k] + 1);
        missing[k] = false;
      }
    }
  }
};

/// Raised when a row has the level `last`: nobody asks for more.
struct StopFlag {
  int* flag;
  Index last;

  [[nodiscard]] __device__ bool raised() const {
    return DeviceAtomic<int>(*flag).load(::cuda::memory_order_relaxed) != 0;
  }
  __device__ void raise() const { DeviceAtomic<int>(*flag).store(1, ::cuda::memory_order_relaxed); }
};

/// The whole warp takes the entries of lane `owner`'s long row, waiting for each: all of them belong to earlier chunks
/// or to lanes of this warp, so the wait ends; if `stop` may end the analysis early, by that at the latest.
template <bool kMayStop>
__device__ void take_long_row(LaneRow& mine, int owner, int lane, Index* levels, const StopFlag& stop) {
  LaneRow row = mine;
  row.first = __shfl_sync(kFullWarp, mine.first, owner);
  row.count = __shfl_sync(kFullWarp, mine.count, owner);
  row.inside = 0;
  Index level = 0;
  for (Index e = lane; e < row.count; e += kWarpSize) {
    const Index other = row.take(e);
    if (other < 0) continue;
    Index value = -1;
    while (value < 0) {
      value = DeviceAtomic<Index>(levels[other]).load(::cuda::memory_order_relaxed);
      if (kMayStop && stop.raised()) break;
    }
    level = max(level, value + 1);
  }
  level = __reduce_max_sync(kFullWarp, level);
  const unsigned inside = __reduce_or_sync(kFullWarp, row.inside);
  if (lane == owner) {
    mine.level = level;
    mine.inside = inside;
    mine.next = mine.count;
  }
}

/// level[row] is −1 until published. A warp takes 32 consecutive steps. Each lane publishes as soon as its own row is
/// settled: a chunk may hold the end of one chain and the start of another, and must not tie them together.
/// kMayStop: all warps end soon after a row has the level stop.last, most rows without a level.
template <bool kMayStop>
__global__ void __launch_bounds__(kBlock)
    level_kernel(DevicePattern pattern, const Offset* first, const Index* count, bool lower, Index* level,
                 TicketCounter tickets, Index* highest, StopFlag stop) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const Index n = pattern.rows;
  const Index chunks = (n + kWarpSize - 1) / kWarpSize;
  Index warp_highest = -1;
  for (;;) {
    const Index chunk = TicketCounter::receive(tickets.request(lane));
    if (chunk >= chunks) break;
    LaneRow mine{lower, n, chunk * kWarpSize, pattern.col_indices, 0, 0};
    const Index step = mine.base + lane;
    const Index row = lower ? step : n - 1 - step;
    if (step < n) {
      mine.first = first[row];
      mine.count = count[row];
    }
    for (unsigned long_rows = __ballot_sync(kFullWarp, mine.count > kLongRow); long_rows != 0;
         long_rows &= long_rows - 1) {
      take_long_row<kMayStop>(mine, __ffs(static_cast<int>(long_rows)) - 1, lane, level, stop);
    }
#pragma unroll
    for (int k = 0; k < kLevelBatch; ++k) mine.missing[k] = false;

    bool published = step >= n;
    unsigned settled = 0;  // lanes whose level is final and known to all lanes that asked
    for (;;) {
      if (!published) {
        if (!mine.batch_missing() && mine.next < mine.count) mine.take_batch();
        mine.poll(level);
      }
      const bool outside_done = !published && !mine.batch_missing() && mine.next >= mine.count;
      // Lanes in ascending order: when it is a lane's turn, all lanes that it may wait for have had theirs.
      const unsigned asked = __reduce_or_sync(kFullWarp, published ? 0U : mine.inside);
      const unsigned ready = __ballot_sync(kFullWarp, outside_done) | settled;
      for (unsigned sources = asked & ready; sources != 0; sources &= sources - 1) {
        const int source = __ffs(static_cast<int>(sources)) - 1;
        const bool final = (outside_done && mine.inside == 0) || published;
        const Index value = __shfl_sync(kFullWarp, final ? mine.level : -1, source);
        if (value >= 0 && ((mine.inside >> source) & 1U)) {
          mine.level = max(mine.level, value + 1);
          mine.inside &= ~(1U << source);
        }
      }
      if (outside_done && mine.inside == 0) {
        DeviceAtomic<Index>(level[row]).store(mine.level, ::cuda::memory_order_relaxed);
        warp_highest = max(warp_highest, mine.level);
        published = true;
        if (kMayStop && mine.level >= stop.last) stop.raise();
      }
      if constexpr (kMayStop) {
        if (__any_sync(kFullWarp, lane == 0 && stop.raised())) return;
      }
      settled = __ballot_sync(kFullWarp, published);
      if (settled == kFullWarp) break;
    }
  }
  warp_highest = __reduce_max_sync(kFullWarp, warp_highest);
  if (lane == 0 && warp_highest >= 0) {
    DeviceAtomic<Index>(*highest).fetch_max(warp_highest, ::cuda::memory_order_relaxed);
  }
}

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
  const Index chunks = (pattern.rows + kWarpSize - 1) / kWarpSize;
  const int warps = min(chunks, cuda::device_limits().multiprocessors * kLevelWarpsPerMultiprocessor);
  const int blocks = (warps * kWarpSize + kBlock - 1) / kBlock;
  level_kernel<kMayStop><<<blocks, kBlock, 0, stream>>>(
      pattern, ranges.first.data(), ranges.count.data(), triangle == Triangle::lower, result.level.data(),
      TicketCounter{state.data()}, state.data() + 1, StopFlag{state.data() + 2, most - 1});
  cuda::check_launch("level_kernel");
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
