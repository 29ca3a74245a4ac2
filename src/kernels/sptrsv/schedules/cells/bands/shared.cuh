/// \file
/// Shared memory of a block that runs a band.
///
/// Who writes each member, who reads it, and why it is there when it is read:
/// - `stage` is written by bulk copies and read by the compute warp, which waits at the barrier `arrived`.
/// - A slot of `ring` is not_yet at first. A feeder or a fetcher writes a start there; the value is its own flag for
///   the compute warp, which reads it and writes the result in the same slot. A storer reads that after `done` and
///   makes the slot not_yet again.
/// - `done` counts the steps that the compute warp has finished. It only grows; it is stored with release order, and
///   all others load it with acquire order.
/// - `stored` is, for each storer, where its last chunk ends. Feeders and fetchers load it with acquire order before
///   they write. So does the compute warp: its own reads of the ring come after it, so that it never takes a result for
///   a start. Its accesses are volatile, and a warp's accesses to shared memory are done in their order.
/// - `mail` is written by the band before, in another block of the cluster, and read by fetchers; the value is its own
///   flag.
/// - `ticket` is written by the first block of the cluster and read by all its blocks after the cluster's barrier.
#pragma once

#include "kernels/sptrsv/schedules/cells/bands/kernel.hpp"
#include "kernels/sptrsv/schedules/cells/run/shared.cuh"

namespace taskdag::kernels::cells {

inline constexpr int kBandStages = 8;
inline constexpr int kBandRing = 128;          ///< steps
inline constexpr int kBandSlots = kLanes + 1;  ///< of a step in the ring: lanes of a step and steps of a lane lie in
                                               ///< different banks
inline constexpr unsigned kSlotBytes = kBandSlots * 8;
inline constexpr unsigned kBandPause = 100;  ///< nanoseconds
static_assert(kBandRing % (kChunk * kBandStorers) == 0);

/// Value: in which entries are stored.
template <class Value>
struct alignas(128) BandShared {
  alignas(128) std::byte stage[kBandStages][BandBytes<Value>::kChunk];
  double ring[kBandRing * kBandSlots];
  alignas(8) std::uint64_t arrived[kBandStages];
  int done;
  int stored[kBandStorers];
  int ticket[2];
  double mail[1];  ///< as many as there are columns
};

/// Results must have been stored up to this step before the slots of chunk `chunk` in the ring are free.
__device__ inline int free_from(int chunk) { return (chunk + 1) * kChunk - kBandRing; }
template <class Value>
__device__ inline SharedAddress stored_of(const BandShared<Value>& s, int chunk) {
  return address_of(&s.stored[chunk % kBandStorers]);
}
template <class Value>
__device__ inline void wait_for_slots(const BandShared<Value>& s, int chunk) {
  while (load_done(stored_of(s, chunk)) < free_from(chunk)) __nanosleep(kBandPause);
}
/// The address of a lane's slot in a step.
template <class Value>
__device__ inline SharedAddress slot_of(const BandShared<Value>& s, int step, int lane) {
  return address_of(s.ring) + static_cast<unsigned>(step % kBandRing * kBandSlots + lane) * 8;
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
