/// \file
/// Shared memory of a block that runs a pencil.
///
/// Who writes each member, who reads it, and why it is there when it is read:
/// - `stage` is written by bulk copies and read by the compute warps, which wait at the barrier `arrived`.
/// - `ring` has starts, then results in the same slots. A mover writes the starts of a chunk of its plane instead of
///   the results that it takes away; the plane's compute warp reads starts and writes results. Starts are there when
///   `fed` says so, results when `done` does.
/// - A slot of `below` is not_yet, then has the result of the plane below at the same step, then is not_yet again. The
///   compute warp of the plane below writes it; for the first plane a fetcher does, or another block of the cluster.
///   The plane's compute warp reads and resets it. The value is its own flag; the slot is free when the reader's
///   `done` says so. At the grid's rim, where there is no plane below, it is 0 and stays so.
/// - The results of the band before that lanes pass on come from a fetcher, too: on grids of seven points in the
///   slot of lane 0 in `below`, on those of 27 in the slots of these lanes in `ring`, which movers leave alone.
/// - `done` counts, for each compute warp, the steps that it has finished. All others read it.
/// - `fed` is, for each mover, where its last chunk ends. The plane's compute warp reads it. The movers of a plane take
///   its chunks alternately.
/// - `above_done` is what the loader of the block above in the cluster has seen of its `done`. The compute warp of the
///   last plane reads it. The last report is what that compute warp needs at its end, so none comes when this block has
///   gone on to another pencil.
/// - `ticket` is written by one block of the cluster and read by all its blocks after the cluster's barrier.
/// Counters only grow inside a pencil. They are stored with release order, and others load them with acquire order. A
/// compute warp's accesses are volatile, and a warp's accesses to shared memory are done in their order.
#pragma once

#include <cuda/ptx>

#include "kernels/sptrsv/schedules/cells/pencils/kernel.hpp"
#include "kernels/sptrsv/schedules/cells/run/shared.cuh"

namespace taskdag::kernels::cells {

inline constexpr int kPencilRing = 64;           ///< steps
inline constexpr int kPencilSlots = kLanes + 1;  ///< of a step in the ring: lanes of a step and steps of a lane lie in
                                                 ///< different banks
inline constexpr unsigned kPencilSlotBytes = kPencilSlots * 8;
inline constexpr int kBelowRing = 32;          ///< steps
inline constexpr unsigned kPencilPause = 100;  ///< nanoseconds

template <class Points>
struct alignas(128) PencilShared {
  alignas(128) std::byte stage[Points::kStages][PencilBytes<Points>::kGroup];
  double ring[Points::kPlanes][kPencilRing * kPencilSlots];
  double below[Points::kPlanes][kBelowRing * kLanes];
  alignas(8) std::uint64_t arrived[Points::kStages];
  int fed[kPencilMovers<Points>];  ///< by plane, of its first mover; then by plane, of its second one
  int done[Points::kPlanes];
  int above_done;  ///< of the first plane of the block above in the cluster
  int ticket[2];   ///< taken alternately
};
template <class Points>
inline constexpr bool kFits = sizeof(PencilShared<Points>) <= 227 * 1024 && kPencilChunk % Points::kGroup == 0;
static_assert(kFits<SevenPoints> && kFits<TwentySevenPoints> && kFits<ThreeUnknowns>);
static_assert(kPencilRing % (2 * kPencilChunk) == 0 && kBelowRing % kPencilChunk == 0);

/// An address of this block, in another block of the cluster.
__device__ inline SharedAddress in_block(SharedAddress a, int rank) {
  SharedAddress result;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(rank));
  return result;
}
/// Hands over what is done, and that values have been read and their slots cleared, to another block of the cluster.
__device__ inline void report_done(SharedAddress a, int value) {
  asm volatile("st.release.cluster.shared::cluster.s32 [%0], %1;" ::"r"(a), "r"(value) : "memory");
}

/// Waits until all compute warps have finished `steps` steps.
template <class Points>
__device__ inline void wait_for_compute_warps(const PencilShared<Points>& s, int steps) {
#pragma unroll
  for (const int& done : s.done) {
    while (load_done(address_of(&done)) < steps) __nanosleep(kPencilPause);
  }
}

/// Whether what a lane passes on comes to its slot in `below`.
template <class Points>
inline constexpr bool kPassesBelow = Points::kPassing == 1;

/// Whether a lane of a plane gets something in `below`.
template <class Points>
__device__ inline bool gets_below(const Pencils<Points>& pencils, const PencilLocation<Points>& at, int plane,
                                  int lane) {
  if (kPassesBelow<Points> && lane < kPassingLanes<Points>) return at.has_before(pencils);
  return plane > 0 || at.has_below(pencils);
}

/// Whether a lane of a plane has a line.
template <class Points>
__device__ inline bool has_line(const Pencils<Points>& pencils, const PencilLocation<Points>& at, int plane, int lane) {
  const Index z = at.slab * Points::kPlanes + plane;
  const Index place = lane / Points::kUnknowns;
  const Index line = at.first_line(z) + place;
  return place >= Points::kPassing && place < Pencils<Points>::kPlaces && line >= 0 && line < pencils.lines &&
         z < pencils.planes;
}

/// The address of a lane's slot in a step of the ring; below_of(): in a step of `below`.
template <class Points>
__device__ inline SharedAddress slot_of(const PencilShared<Points>& s, int plane, int step, int lane) {
  return address_of(s.ring[plane]) + static_cast<unsigned>(step % kPencilRing * kPencilSlots + lane) * 8;
}
template <class Points>
__device__ inline SharedAddress below_of(const PencilShared<Points>& s, int plane, int step, int lane) {
  return address_of(s.below[plane]) + static_cast<unsigned>(step % kBelowRing * kLanes + lane) * 8;
}
/// Where a lane finds what it passes on.
template <class Points>
__device__ inline SharedAddress passed_of(const PencilShared<Points>& s, int plane, int step, int lane) {
  return kPassesBelow<Points> ? below_of(s, plane, step, lane) : slot_of(s, plane, step, lane);
}

/// Makes all slots of `below` not_yet. Called by all threads of a block.
template <class Points>
__device__ inline void clear_below(PencilShared<Points>& s) {
  for (int k = static_cast<int>(threadIdx.x); k < Points::kPlanes * kBelowRing * kLanes; k += kPencilThreads<Points>) {
    s.below[0][k] = not_yet();
  }
}
/// Makes the slots 0 that get no value, at the rim of the grid. Called by all threads of a block.
template <class Points>
__device__ inline void clear_rim(PencilShared<Points>& s, const Pencils<Points>& pencils,
                                 const PencilLocation<Points>& at) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  for (int k = static_cast<int>(threadIdx.x); k < Points::kPlanes * kBelowRing * kLanes; k += kPencilThreads<Points>) {
    const int plane = k / (kBelowRing * kLanes);
    if (!gets_below(pencils, at, plane, lane)) s.below[plane][k % (kBelowRing * kLanes)] = 0.0;
  }
  if constexpr (!kPassesBelow<Points>) {
    constexpr int kPassing = kPassingLanes<Points>;
    constexpr int kPlaneValues = kPencilRing * kPassing;
    for (int k = static_cast<int>(threadIdx.x); k < Points::kPlanes * kPlaneValues; k += kPencilThreads<Points>) {
      const int step = k % kPlaneValues / kPassing;
      s.ring[k / kPlaneValues][step * kPencilSlots + k % kPassing] = at.has_before(pencils) ? not_yet() : 0.0;
    }
  }
}

template <class Points>
__device__ inline void wait_for_stage(PencilShared<Points>& s, int stage, int phase) {
  while (!::cuda::ptx::mbarrier_try_wait_parity(&s.arrived[stage], static_cast<std::uint32_t>(phase))) {
  }
}
template <class Points>
__device__ inline void next_pencil_stage(int& stage, int& phase) {
  if (++stage == Points::kStages) {
    stage = 0;
    phase ^= 1;
  }
}

/// An address that is computed once, not again for each step.
__device__ inline SharedAddress kept(SharedAddress a) {
  asm volatile("" : "+r"(a));
  return a;
}

/// Where a lane's entries of a plane lie in the first stage; in_stage(): in another one.
template <class Points>
struct PencilEntries {
  SharedAddress pairs;
  SharedAddress singles;

  using Value = typename Points::Value;

  __device__ PencilEntries(const PencilShared<Points>& s, int plane, int lane)
      : pairs(address_of(s.stage[0]) +
              static_cast<unsigned>(plane * PencilBytes<Points>::kPlaneStep + lane * 2 * kValue)),
        singles(address_of(s.stage[0]) + static_cast<unsigned>(plane * PencilBytes<Points>::kPlaneStep +
                                                               PencilBytes<Points>::kSingles + lane * kValue)) {}
  [[nodiscard]] __device__ PencilEntries in_stage(int stage) const {
    const unsigned bytes = static_cast<unsigned>(stage) * static_cast<unsigned>(PencilBytes<Points>::kGroup);
    PencilEntries result = *this;
    result.pairs = kept(pairs + bytes);
    result.singles = kept(singles + bytes);
    return result;
  }
  [[nodiscard]] __device__ double2 pair(unsigned step, unsigned k) const {
    return load_pair<Value>(pairs + step * kStep + k * kLanes * 2 * kValue);
  }
  [[nodiscard]] __device__ double last(unsigned step) const { return load_value<Value>(singles + step * kStep); }

 private:
  static constexpr int kValue = PencilBytes<Points>::kValue;
  static constexpr auto kStep = static_cast<unsigned>(PencilBytes<Points>::kStep);
};

/// Does what store_double() does where `has` is not zero. This is a predicate, not a branch.
__device__ inline void store_double_if(SharedAddress to, double value, int has) {
  asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p st.volatile.shared.f64 [%0], %1;}" ::"r"(to), "d"(value),
               "r"(has)
               : "memory");
}

}  // namespace taskdag::kernels::cells
