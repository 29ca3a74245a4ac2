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
// Warps in flight per multiprocessor: each waiting warp polls, and beyond this the polls slow the hops down.
constexpr int kLevelWarpsPerMultiprocessor = 32;

__global__ void triangle_ranges(DevicePattern pattern, bool lower, Offset* first, Index* count) {
  const Index row = static_cast<Index>(cuda::element());
  if (row >= pattern.rows) return;
  const Offset begin = pattern.row_offsets[row];
  const Offset end = pattern.row_offsets[row + 1];
  // First entry with column >= row (lower) or > row (upper).
  const Index bound = lower ? row : row + 1;
  Offset low = begin;
  Offset high = end;
  while (low < high) {
    const Offset middle = low + (high - low) / 2;
    if (pattern.col_indices[middle] < bound) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  first[row] = lower ? begin : low;
  count[row] = lower ? low - begin : end - low;
}

/// level[row] is −1 until published. A lane's row waits for rows of smaller tickets only, or for rows of its own warp
/// with a smaller lane number, which are settled by shuffles.
__global__ void __launch_bounds__(kBlock)
    level_kernel(DevicePattern pattern, const Offset* first, const Index* count, bool lower, Index* level,
                 TicketCounter tickets, Index* highest) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const Index n = pattern.rows;
  const Index chunks = (n + kWarpSize - 1) / kWarpSize;
  Index warp_highest = -1;
  for (;;) {
    const Index chunk = TicketCounter::receive(tickets.request(lane));
    if (chunk >= chunks) break;
    const Index base = chunk * kWarpSize;
    const Index step = base + lane;  // place in the sweep
    const bool active = step < n;
    const Index row = lower ? step : n - 1 - step;
    Index mine = 0;
    unsigned inside = 0;  // lanes of this warp that this row waits for
    if (active) {
      const Offset begin = first[row];
      const Index entries = count[row];
      for (Index e = 0; e < entries; e += kLevelBatch) {
        Index other[kLevelBatch];
        Index value[kLevelBatch];
#pragma unroll
        for (int k = 0; k < kLevelBatch; ++k) {
          other[k] = -1;
          value[k] = 0;
          if (e + k < entries) {
            const Index column = pattern.col_indices[begin + e + k];
            const Index other_step = lower ? column : n - 1 - column;
            if (other_step >= base) {
              inside |= 1U << (other_step - base);
            } else {
              other[k] = column;
              value[k] = -1;
            }
          }
        }
        bool missing = true;
        while (missing) {
          missing = false;
#pragma unroll
          for (int k = 0; k < kLevelBatch; ++k) {
            if (value[k] < 0) {
              value[k] = DeviceAtomic<Index>(level[other[k]]).load(::cuda::memory_order_relaxed);
              missing = missing || value[k] < 0;
            }
          }
        }
#pragma unroll
        for (int k = 0; k < kLevelBatch; ++k) {
          if (other[k] >= 0) mine = max(mine, value[k] + 1);
        }
      }
    }
    for (unsigned sources = __reduce_or_sync(kFullWarp, inside); sources != 0; sources &= sources - 1) {
      const int source = __ffs(static_cast<int>(sources)) - 1;  // ascending: final when it is read
      const Index value = __shfl_sync(kFullWarp, mine, source);
      if ((inside >> source) & 1U) mine = max(mine, value + 1);
    }
    if (active) {
      DeviceAtomic<Index>(level[row]).store(mine, ::cuda::memory_order_relaxed);
      warp_highest = max(warp_highest, mine);
    }
  }
  warp_highest = __reduce_max_sync(kFullWarp, warp_highest);
  if (lane == 0 && warp_highest >= 0)
    DeviceAtomic<Index>(*highest).fetch_max(warp_highest, ::cuda::memory_order_relaxed);
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

RowLevels compute_levels(const DevicePattern& pattern, const TriangleRanges& ranges, Triangle triangle,
                         cudaStream_t stream) {
  RowLevels result{{static_cast<std::size_t>(pattern.rows), stream}, 0};
  if (pattern.rows == 0) return result;
  cuda::ScratchArray<int> state(2, stream);  // ticket counter, highest level
  cuda::check(cudaMemsetAsync(state.data(), 0, 2 * sizeof(int), stream), "resetting the level analysis");
  cuda::check(cudaMemsetAsync(result.level.data(), 0xFF, result.level.size() * sizeof(Index), stream),
              "resetting the level analysis");
  const Index chunks = (pattern.rows + kWarpSize - 1) / kWarpSize;
  const int warps = min(chunks, cuda::device_limits().multiprocessors * kLevelWarpsPerMultiprocessor);
  const int blocks = (warps * kWarpSize + kBlock - 1) / kBlock;
  level_kernel<<<blocks, kBlock, 0, stream>>>(pattern, ranges.first.data(), ranges.count.data(),
                                              triangle == Triangle::lower, result.level.data(),
                                              TicketCounter{state.data()}, state.data() + 1);
  cuda::check_launch("level_kernel");
  result.levels = cuda::fetch(state.data() + 1, stream) + 1;
  return result;
}

}  // namespace taskdag::kernels
