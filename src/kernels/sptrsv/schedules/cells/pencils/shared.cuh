/// \file
/// Shared memory of a block that runs a pencil.
///
/// Who writes what, who reads it, and why it is there when it is read:
/// - stage: bulk copies; the runners; barrier `arrived`.
/// - ring: starts, then results in the same places. A mover writes the starts of a chunk of its plane in place of the
///   results that it takes away; the plane's runner reads starts and writes results. Starts are there when `fed` says
///   so, results when `done` does.
/// - below: not_yet, then the result of the plane below at the same step, of lane 0 that of the last line of the pencil
///   before, then not_yet again. From the runner of the plane below, for the first plane and for lane 0 from a fetcher;
///   to the plane's runner, which resets it. The value is its own flag; a place is free when the reader's `done` says
///   so. What nobody brings, at the grid's rim, is 0 and stays so.
/// - done: by runner, steps that it has finished; all others.
/// - fed: by mover, the end of its last chunk; the plane's runner. Movers take chunks in turn, two a plane.
/// Counters only grow inside a pencil; they are stored with release order. Others load them with acquire order; a
/// runner's accesses are volatile, and a warp's accesses to shared memory are done in their order.
#pragma once

#include "kernels/sptrsv/schedules/cells/pencils/kernel.hpp"
#include "kernels/sptrsv/schedules/cells/run/shared.cuh"

namespace taskdag::kernels::cells {

inline constexpr int kPencilStages = 4;
inline constexpr int kPencilRing = 64;            ///< steps
inline constexpr int kPencilPlaces = kLanes + 1;  ///< of a step in the ring: lanes of a step and steps of a lane lie in
                                                  ///< different banks
inline constexpr unsigned kPencilPlaceBytes = kPencilPlaces * 8;
inline constexpr int kBelowRing = 32;          ///< steps
inline constexpr unsigned kPencilPause = 100;  ///< nanoseconds
static_assert(kPencilRing % (2 * kPencilChunk) == 0 && kPencilChunk % kPencilGroup == 0 &&
              kBelowRing % kPencilGroup == 0);

struct alignas(128) PencilShared {
  alignas(128) std::byte stage[kPencilStages][kPencilGroupBytes];
  double ring[kPencilPlanes][kPencilRing * kPencilPlaces];
  double below[kPencilPlanes][kBelowRing * kLanes];
  alignas(8) std::uint64_t arrived[kPencilStages];
  int fed[kPencilMovers];  ///< of even chunks, by plane; of odd ones
  int done[kPencilPlanes];
  int ticket;
};
static_assert(sizeof(PencilShared) <= 227 * 1024);

/// Waits until all runners have finished `steps` steps.
__device__ inline void wait_for_runners(const PencilShared& s, int steps) {
#pragma unroll
  for (const int& done : s.done) {
    while (load_done(address_of(&done)) < steps) __nanosleep(kPencilPause);
  }
}

/// Whether a lane of a plane gets something in `below`.
__device__ inline bool has_below(const PencilPlace& at, int plane, int lane) {
  return lane == 0 ? at.band > 0 : plane > 0 || at.slab > 0;
}

/// Of a lane's place in a step.
__device__ inline SharedAddress place_of(const PencilShared& s, int plane, int step, int lane) {
  return address_of(s.ring[plane]) + static_cast<unsigned>(step % kPencilRing * kPencilPlaces + lane) * 8;
}
__device__ inline SharedAddress below_of(const PencilShared& s, int plane, int step, int lane) {
  return address_of(s.below[plane]) + static_cast<unsigned>(step % kBelowRing * kLanes + lane) * 8;
}

}  // namespace taskdag::kernels::cells
