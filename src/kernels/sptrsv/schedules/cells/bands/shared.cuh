/// \file
/// Shared memory of a block that runs a band.
///
/// Who writes what, who reads it, and why it is there when it is read:
/// - stage: bulk copies; the compute warp; barrier `arrived`.
/// - ring: a place is not_yet, then a start (a feeder, a fetcher: the value is its own flag, the compute warp reads
/// it), then
///   a result (the compute warp, in the same place; a storer reads it after `done`), then not_yet again (the storer).
/// - done: the compute warp, steps that it has finished; all others; a number that only grows, release and acquire.
/// - stored: a storer, the end of its last chunk; feeders and fetchers before they write, which acquire it; and the
///   compute warp, whose own reads of the ring stand behind its read of it, so that it never takes a result for a
///   start. The compute warp's accesses are volatile, and a warp's accesses to shared memory are done in their order.
/// - mail: the band before, from another block of the cluster; fetchers; the value is its own flag.
/// - ticket: the first block of the cluster; all its blocks; the cluster's barrier.
#pragma once

#include "kernels/sptrsv/schedules/cells/bands/kernel.hpp"
#include "kernels/sptrsv/schedules/cells/run/shared.cuh"

namespace taskdag::kernels::cells {

inline constexpr int kBandStages = 8;
inline constexpr int kBandRing = 128;           ///< steps
inline constexpr int kBandPlaces = kLanes + 1;  ///< of a step in the ring: lanes of a step and steps of a lane lie in
                                                ///< different banks
inline constexpr unsigned kPlaceBytes = kBandPlaces * 8;
inline constexpr unsigned kBandPause = 100;  ///< nanoseconds
static_assert(kBandRing % (kChunk * kBandStorers) == 0);

/// Value: in which entries are stored.
template <class Value>
struct alignas(128) BandShared {
  alignas(128) std::byte stage[kBandStages][BandBytes<Value>::kChunk];
  double ring[kBandRing * kBandPlaces];
  alignas(8) std::uint64_t arrived[kBandStages];
  int done;
  int stored[kBandStorers];
  int ticket[2];
  double mail[1];  ///< as many as there are columns
};

/// The end of chunk `chunk`'s place in the ring must have been stored up to this.
__device__ inline int free_from(int chunk) { return (chunk + 1) * kChunk - kBandRing; }
template <class Value>
__device__ inline SharedAddress stored_of(const BandShared<Value>& s, int chunk) {
  return address_of(&s.stored[chunk % kBandStorers]);
}
template <class Value>
__device__ inline void wait_for_place(const BandShared<Value>& s, int chunk) {
  while (load_done(stored_of(s, chunk)) < free_from(chunk)) __nanosleep(kBandPause);
}
/// Of a lane's place in a step.
template <class Value>
__device__ inline SharedAddress place_of(const BandShared<Value>& s, int step, int lane) {
  return address_of(s.ring) + static_cast<unsigned>(step % kBandRing * kBandPlaces + lane) * 8;
}

/// Rows of a half of a warp: 16 columns of every second line of a band, from one step of the lanes on.
struct HalfLines {
  int half;    ///< which of two lines
  int column;  ///< of line `half` at this lane's step
  Index row;   ///< that of this column
  Index stride;
  Index lines;  ///< of the band, from line `half` on
  Index columns;

  template <class Value>
  __device__ HalfLines(const BandArguments<Value>& a, Index band, int step, int lane)
      : half(lane / kChunk),
        column(step - half),
        stride(2 * (a.lower ? a.bands.columns - 1 : 1 - a.bands.columns)),
        lines(a.bands.lines - band * kLanes - half),
        columns(a.bands.columns) {
    const Index r = (band * kLanes + half) * columns + column;
    row = a.lower ? r : a.rows - 1 - r;
  }
  /// Of line half + 2 i.
  [[nodiscard]] __device__ bool has(int i) const {
    return static_cast<unsigned>(column - 2 * i) < static_cast<unsigned>(columns) && 2 * i < lines;
  }
  [[nodiscard]] __device__ Index row_of(int i) const { return row + i * stride; }
};

}  // namespace taskdag::kernels::cells
