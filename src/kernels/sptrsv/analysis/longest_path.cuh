/// \file
/// Longest paths to all rows of a triangle, in one launch: the length of a row is the longest of what its operands'
/// lengths grow to on the way to it; 0 for a row without operands.
///
/// A warp takes 32 consecutive rows, waits for lengths from other warps and settles dependencies between its own rows
/// by shuffles: a hop inside the warp costs nanoseconds, and in a natural order most hops are.
#pragma once

#include <algorithm>

#include "backends/cuda/device.hpp"
#include "backends/cuda/seam.cuh"
#include "base/index.hpp"
#include "kernels/sptrsv/analysis/triangle.hpp"

namespace taskdag::kernels {

// What lengths are is said by a Path, of which each lane has a copy:
//   Length, kUnknown          an unsigned or signed integer; a value that is no length
//   grown(length, from, to)   a path to row `from`, gone on to row `to`
//   longer(a, b), longest(a)  of two; of a warp's
//   settle(length)            a row's length is final
//   kMayStop, stopped()       whether, and that, no more is wanted: all warps end, most rows unknown
//   finish(lane)              after the warp's last row

namespace path {

inline constexpr int kBlock = 256;
inline constexpr int kBatch = 4;
// Rows with more entries are read by the whole warp.
inline constexpr Index kLongRow = 256;
// Warps in flight per multiprocessor: each waiting warp polls, and beyond this the polls slow the hops down.
inline constexpr int kWarpsPerMultiprocessor = 32;

using cuda::DeviceAtomic;
using cuda::kFullWarp;
using cuda::kWarpSize;
using cuda::TicketCounter;

/// One of the 32 rows of a chunk, and how far its lane has come.
template <class Path>
struct LaneRow {
  using Length = typename Path::Length;
  bool lower;
  Index n;
  Index base;  // first step of the chunk; a step is a row's number in the sweep
  const Index* columns;
  Index row;
  Offset first = 0;  // entries [first, first + count); those of an upper triangle are taken from the back, so that
  Index count = 0;   // both directions meet the operands of the earliest steps first
  Index next = 0;    // entries taken so far
  Length length = 0;
  unsigned inside = 0;  // lanes of this warp that the row waits for and has not heard of
  Index other[kBatch];
  bool missing[kBatch];

  __device__ Index step_of(Index i) const { return lower ? i : n - 1 - i; }
  __device__ Index column(Index e) const { return __ldg(columns + (lower ? first + e : first + count - 1 - e)); }

  /// Takes entry e: from another lane of the warp, or (returned) a row to ask the memory for; −1: none.
  __device__ Index take(Index e) {
    const Index from = column(e);
    const Index step = step_of(from);
    if (step >= base) {
      inside |= 1U << (step - base);
      return -1;
    }
    return from;
  }
  __device__ void take_batch() {
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      other[k] = next + k < count ? take(next + k) : -1;
      missing[k] = other[k] >= 0;
    }
    next += kBatch;
  }
  __device__ bool batch_missing() const {
    bool any = false;
#pragma unroll
    for (int k = 0; k < kBatch; ++k) any = any || missing[k];
    return any;
  }
  __device__ void extend(const Path& path, Length known, Index from) {
    length = Path::longer(length, path.grown(known, from, row));
  }
  /// Takes lengths from the lanes `sources`; final(): whether this lane's own is. Lanes in ascending order: when it is
  /// a lane's turn, all lanes that it may wait for have had theirs.
  template <class Final>
  __device__ __forceinline__ void take_from_lanes(const Path& path, unsigned sources, const Final& final) {
    for (; sources != 0; sources &= sources - 1) {
      const int source = __ffs(static_cast<int>(sources)) - 1;
      const Length value = __shfl_sync(kFullWarp, final() ? length : Path::kUnknown, source);
      if (value != Path::kUnknown && ((inside >> source) & 1U)) {
        extend(path, value, lower ? base + source : n - 1 - base - source);
        inside &= ~(1U << source);
      }
    }
  }
  __device__ void poll(const Path& path, Length* lengths) {
    Length value[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (missing[k]) value[k] = DeviceAtomic<Length>(lengths[other[k]]).load(::cuda::memory_order_relaxed);
    }
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (missing[k] && value[k] != Path::kUnknown) {
        extend(path, value[k], other[k]);
        missing[k] = false;
      }
    }
  }
};

/// The whole warp takes the entries of lane `owner`'s long row, waiting for each: all of them belong to earlier chunks
/// or to lanes of this warp, so the wait ends; if the analysis may end early, by that at the latest.
template <class Path>
__device__ void take_long_row(const Path& path, LaneRow<Path>& mine, int owner, int lane,
                              typename Path::Length* lengths) {
  using Length = typename Path::Length;
  LaneRow<Path> row = mine;
  row.row = __shfl_sync(kFullWarp, mine.row, owner);
  row.first = __shfl_sync(kFullWarp, mine.first, owner);
  row.count = __shfl_sync(kFullWarp, mine.count, owner);
  row.inside = 0;
  row.length = 0;
  for (Index e = lane; e < row.count; e += kWarpSize) {
    const Index other = row.take(e);
    if (other < 0) continue;
    Length value = Path::kUnknown;
    while (value == Path::kUnknown) {
      value = DeviceAtomic<Length>(lengths[other]).load(::cuda::memory_order_relaxed);
      if (Path::kMayStop && path.stopped()) break;
    }
    if (value != Path::kUnknown) row.extend(path, value, other);
  }
  const Length longest = Path::longest(row.length);
  const unsigned inside = __reduce_or_sync(kFullWarp, row.inside);
  if (lane == owner) {
    mine.length = longest;
    mine.inside = inside;
    mine.next = mine.count;
  }
}

/// A length is unknown until it is published. A warp takes 32 consecutive steps. Each lane publishes as soon as its own
/// row is settled: a chunk may hold the end of one chain and the start of another, and must not tie them together.
template <class Path>
__global__ void __launch_bounds__(kBlock)
    path_kernel(DevicePattern pattern, const Offset* first, const Index* count, bool lower,
                typename Path::Length* lengths, TicketCounter tickets, Path path) {
  using Length = typename Path::Length;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const Index n = pattern.rows;
  const Index chunks = pieces_of(n, kWarpSize);
  for (;;) {
    const Index chunk = TicketCounter::receive(tickets.request(lane));
    if (chunk >= chunks) break;
    const Index base = chunk * kWarpSize;
    const Index step = base + lane;
    LaneRow<Path> mine{lower, n, base, pattern.col_indices, lower ? step : n - 1 - step};
    if (step < n) {
      mine.first = first[mine.row];
      mine.count = count[mine.row];
    }
    for (unsigned long_rows = __ballot_sync(kFullWarp, mine.count > kLongRow); long_rows != 0;
         long_rows &= long_rows - 1) {
      take_long_row(path, mine, __ffs(static_cast<int>(long_rows)) - 1, lane, lengths);
    }
#pragma unroll
    for (int k = 0; k < kBatch; ++k) mine.missing[k] = false;

    bool published = step >= n;
    unsigned settled = 0;  // lanes whose length is final and known to all lanes that asked
    for (;;) {
      if (!published) {
        if (!mine.batch_missing() && mine.next < mine.count) mine.take_batch();
        mine.poll(path, lengths);
      }
      const bool outside_done = !published && !mine.batch_missing() && mine.next >= mine.count;
      const unsigned asked = __reduce_or_sync(kFullWarp, published ? 0U : mine.inside);
      const unsigned ready = __ballot_sync(kFullWarp, outside_done) | settled;
      mine.take_from_lanes(path, asked & ready, [&] { return (outside_done && mine.inside == 0) || published; });
      if (outside_done && mine.inside == 0) {
        DeviceAtomic<Length>(lengths[mine.row]).store(mine.length, ::cuda::memory_order_relaxed);
        path.settle(mine.length);
        published = true;
      }
      if constexpr (Path::kMayStop) {
        if (__any_sync(kFullWarp, lane == 0 && path.stopped())) return;
      }
      settled = __ballot_sync(kFullWarp, published);
      if (settled == kFullWarp) break;
    }
  }
  path.finish(lane);
}

}  // namespace path

/// Lengths by row, all kUnknown before; *ticket is 0 before. Asynchronous.
template <class Path>
void find_longest_paths(const DevicePattern& pattern, const TriangleRanges& ranges, Triangle triangle, const Path& way,
                        typename Path::Length* lengths, int* ticket, cudaStream_t stream) {
  const Index chunks = pieces_of(pattern.rows, cuda::kWarpSize);
  const int warps = std::min(chunks, cuda::device_limits().multiprocessors * path::kWarpsPerMultiprocessor);
  const int blocks = (warps * cuda::kWarpSize + path::kBlock - 1) / path::kBlock;
  path::path_kernel<<<blocks, path::kBlock, 0, stream>>>(pattern, ranges.first.data(), ranges.count.data(),
                                                         triangle == Triangle::lower, lengths,
                                                         cuda::TicketCounter{ticket}, way);
  cuda::check_launch("path_kernel");
}

}  // namespace taskdag::kernels
