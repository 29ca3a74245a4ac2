/// \file
/// A runner of a plane of a pencil: one warp, a lane a line.
///
/// What a step needs is read while the step before is run. What a step waits for longest are shuffles: they are the
/// first thing to be done with new results, and what waits for them is added last.
#pragma once

#include <cuda/ptx>

#include "kernels/sptrsv/schedules/cells/pencils/shared.cuh"
#include "kernels/sptrsv/schedules/cells/run/lane_before.cuh"
#include "kernels/sptrsv/schedules/cells/run/reciprocal.cuh"

namespace taskdag::kernels::cells {

/// Hands a result on through the device's memory where `has` is not zero. A predicate, no branch.
__device__ inline void hand_on(double* to, double value, int has) {
  asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p st.relaxed.gpu.f64 [%0], %1;}" ::"l"(to), "d"(value), "r"(has)
               : "memory");
}
/// The same in shared memory.
__device__ inline void store_double_if(SharedAddress to, double value, int has) {
  asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p st.volatile.shared.f64 [%0], %1;}" ::"r"(to), "d"(value),
               "r"(has)
               : "memory");
}

template <bool kReciprocal>
class PencilRunner {
 public:
  __device__ PencilRunner(PencilShared& s, const PencilArguments& a, Index pencil, const PencilPlace& at, int plane,
                          int steps, int lane)
      : s_(s),
        steps_(steps),
        lane_(lane),
        plane_(plane),
        has_below_(has_below(at, plane, lane)),
        has_above_(plane + 1 < kPencilPlanes && lane > 0),
        hands_line_(lane == kLanes - 1 && at.band + 1 < a.pencils.in_slab()),
        hands_plane_(plane == kPencilPlanes - 1 && at.slab + 1 < a.pencils.slabs()),
        to_line_(a.lines + std::int64_t{pencil} * steps * kPencilPlanes + plane),
        to_plane_(a.planes + std::int64_t{pencil} * steps * kLanes + lane),
        ring_(place_of(s, plane, 0, lane)),
        below_(below_of(s, plane, 0, lane)),
        above_(below_ + (plane + 1 < kPencilPlanes ? kBelowRing * kStepBytes : 0)),
        entries_(address_of(s.stage[0]) + static_cast<unsigned>(plane * kPlaneStepBytes + lane * 16)),
        thirds_(address_of(s.stage[0]) + static_cast<unsigned>(plane * kPlaneStepBytes + kPlaneThirds + lane * 8)) {}

  __device__ void run(int& stage, int& phase) {
    for (int step = 0; step < steps_; step += kPencilGroup) {
      wait_for_places(step);
      wait_for_stage(stage, phase);
      const auto entries = static_cast<unsigned>(stage) * static_cast<unsigned>(kPencilGroupBytes);
      const SharedAddress place = ring_ + static_cast<unsigned>(step % kPencilRing) * kPencilPlaceBytes;
      const auto of_below = static_cast<unsigned>(step % kBelowRing * kStepBytes);
      Step now;
      read(now, place, below_ + of_below, entries);
#pragma unroll
      for (unsigned k = 0; k < kPencilGroup; ++k) {
        double sum = fma(now.pair.x, x_, now.start);
        const double of_line = now.pair.y;
        const double of_plane = now.third;
        double below = now.below;
        const SharedAddress below_at = below_ + of_below + k * kStepBytes;
        while (__all_sync(cuda::kFullWarp, has_come(below)) == 0) below = load_double(below_at);
        sum = fma(of_plane, below, sum);
        if (k + 1 < kPencilGroup)
          read(now, place + (k + 1) * kPencilPlaceBytes, below_at + kStepBytes,
               entries + (k + 1) * static_cast<unsigned>(kPencilStepBytes));
        sum = fma(of_line, x_line_before_, sum);
        if constexpr (kReciprocal) {
          const double inverse = reciprocal(sum);
          sum = lane_ == 0 ? sum : inverse;  // of lane 0 it is one already
        }
        x_ = sum;
        x_line_before_ = of_lane_before(x_);
        store_double_if(above_ + of_below + k * kStepBytes, x_, has_above_);
        hand_on(to_plane_ + k * kLanes, x_, hands_plane_);
        hand_on(to_line_ + k * kPencilPlanes, x_, hands_line_);
        store_double(place + k * kPencilPlaceBytes, x_);
        store_double_if(below_at, not_yet(), has_below_);
      }
      if (++stage == kPencilStages) {
        stage = 0;
        phase ^= 1;
      }
      to_line_ += kPencilGroup * kPencilPlanes;
      to_plane_ += kPencilGroup * kLanes;
      __syncwarp();
      if (lane_ == 0) store_done(address_of(&s_.done[plane_]), step + kPencilGroup);
    }
  }

 private:
  /// What a step takes beside the results of the step before.
  struct Step {
    double start;
    double below;
    double2 pair;
    double third;
  };

  __device__ void wait_for_stage(int stage, int phase) const {
    while (!::cuda::ptx::mbarrier_try_wait_parity(&s_.arrived[stage], static_cast<std::uint32_t>(phase))) {
    }
  }
  /// Waits until the starts of the group from `step` on are there, and the plane above has room for its results.
  __device__ void wait_for_places(int step) const {
    const SharedAddress fed = address_of(&s_.fed[step / kPencilChunk % 2 * kPencilPlanes + plane_]);
    const SharedAddress above = address_of(&s_.done[min(plane_ + 1, kPencilPlanes - 1)]);
    const int above_needed = plane_ + 1 < kPencilPlanes ? step + kPencilGroup - kBelowRing : 0;
    for (;;) {
      const int is_fed = load_int(fed);
      const int above_done = load_int(above);
      if (__all_sync(cuda::kFullWarp, (is_fed >= step + kPencilGroup) & (above_done >= above_needed)) != 0) return;
    }
  }
  __device__ void read(Step& step, SharedAddress place, SharedAddress below, unsigned entries) const {
    step.below = load_double(below);
    step.start = load_double(place);
    step.pair = load_double2(entries_ + entries);
    step.third = load_double(thirds_ + entries);
  }

  PencilShared& s_;
  int steps_;
  int lane_;
  int plane_;
  int has_below_;
  int has_above_;
  int hands_line_;
  int hands_plane_;
  double* to_line_;
  double* to_plane_;
  SharedAddress ring_;
  SharedAddress below_;
  SharedAddress above_;
  SharedAddress entries_;
  SharedAddress thirds_;
  double x_ = 0.0;
  double x_line_before_ = 0.0;  ///< x_ of the lane before
};

}  // namespace taskdag::kernels::cells
