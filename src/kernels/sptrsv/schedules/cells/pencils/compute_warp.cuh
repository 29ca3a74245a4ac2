/// \file
/// A compute warp of a plane of a pencil: one warp, a lane a line.
///
/// What a step needs is read while the step before is run. What a step waits for longest are shuffles: they are the
/// first thing to be done with new results, and what waits for them is added last.
#pragma once

#include "kernels/sptrsv/schedules/cells/pencils/shared.cuh"
#include "kernels/sptrsv/schedules/cells/run/lane_before.cuh"
#include "kernels/sptrsv/schedules/cells/run/reciprocal.cuh"

namespace taskdag::kernels::cells {

/// Hands a result on where `has` is not zero: `to` is in the memory of the device or of another block of the cluster. A
/// predicate, no branch.
__device__ inline void hand_on(double* to, double value, int has) {
  asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p st.relaxed.gpu.f64 [%0], %1;}" ::"l"(to), "d"(value), "r"(has)
               : "memory");
}
/// What compute warps of all grids have in common.
template <class Grid>
class PencilPlane {
 public:
  using Points = Grid;

 protected:
  static constexpr int kGroup = Points::kGroup;
  static constexpr int kLineValues = cells::kLineValues<Points>;
  static constexpr int kFirstHanded = Pencils<Points>::kLines * Points::kUnknowns;  ///< lane of the lines handed on

  /// next_block: of the cluster, which has the pencil above; null: it is not there.
  __device__ PencilPlane(PencilShared<Points>& s, const PencilArguments<Points>& a, Index pencil,
                         const PencilLocation<Points>& at, PencilShared<Points>* next_block, int plane, int steps,
                         int lane)
      : s_(s),
        steps_(steps),
        lane_(lane),
        plane_(plane),
        gets_below_(gets_below(a.pencils, at, plane, lane)),
        has_above_(plane + 1 < Points::kPlanes && (!kPassesBelow<Points> || lane >= Points::kPassing)),
        hands_line_(lane >= kFirstHanded && lane < kFirstHanded + kPassingLanes<Points> && at.has_after(a.pencils)),
        hands_plane_(plane == Points::kPlanes - 1 && at.has_above(a.pencils) &&
                     (next_block == nullptr || !kPassesBelow<Points> || lane >= Points::kPassing)),
        room_above_(plane + 1 < Points::kPlanes ? address_of(&s.done[plane + 1]) : address_of(&s.above_done)),
        waits_for_room_(plane + 1 < Points::kPlanes || (at.has_above(a.pencils) && next_block != nullptr)),
        wraps_(plane == Points::kPlanes - 1 && next_block != nullptr),
        to_line_(a.lines + std::int64_t{pencil} * steps * kLineValues + plane * kPassingLanes<Points> +
                 max(lane - kFirstHanded, 0)),
        to_plane_(lane +
                  (next_block != nullptr ? next_block->below[0] : a.planes + std::int64_t{pencil} * steps * kLanes)),
        ring_(slot_of(s, plane, 0, lane)),
        below_(below_of(s, plane, 0, lane)),
        above_(below_ + (plane + 1 < Points::kPlanes ? kBelowRing * kStepBytes : 0)),
        entries_(s, plane, lane) {}

  /// Waits until the starts of the group from `step` on are there, and the plane above has room for its results.
  __device__ void wait_for_slots(int step) const {
    const SharedAddress fed = address_of(&s_.fed[step / kPencilChunk % Points::kMovers * Points::kPlanes + plane_]);
    const int above_needed = waits_for_room_ ? step + kGroup - kBelowRing : 0;
    for (;;) {
      const int is_fed = load_int(fed);
      const int above_done = load_int(room_above_);
      if (__all_sync(cuda::kFullWarp, (is_fed >= step + kGroup) & (above_done >= above_needed)) != 0) return;
    }
  }
  /// Hands the results of step k of a group on to the planes and lines that need them. `of_below`: of the group in
  /// `below`.
  __device__ void hand_on_all(unsigned k, unsigned of_below, double x) const {
    store_double_if(above_ + of_below + k * kStepBytes, x, has_above_);
    hand_on(to_plane_ + k * kLanes, x, hands_plane_);
    hand_on(to_line_ + k * kLineValues, x, hands_line_);
  }
  __device__ void end_group(int step) {
    to_line_ += kGroup * kLineValues;
    to_plane_ += kGroup * kLanes;
    if (wraps_ && (step + kGroup) % kBelowRing == 0) to_plane_ -= kBelowRing * kLanes;
    __syncwarp();
    if (lane_ == 0) store_done(address_of(&s_.done[plane_]), step + kGroup);
  }

  PencilShared<Points>& s_;
  int steps_;
  int lane_;
  int plane_;
  int gets_below_;
  int has_above_;
  int hands_line_;
  int hands_plane_;
  SharedAddress room_above_;  ///< where the reader of the plane's results says how far it is
  bool waits_for_room_;
  bool wraps_;  ///< to_plane_ is in a ring
  double* to_line_;
  double* to_plane_;
  SharedAddress ring_;
  SharedAddress below_;
  SharedAddress above_;
  PencilEntries<Points> entries_;
};

/// Grid: SevenPoints, in double or in single precision.
template <class Grid, bool kReciprocal>
class PencilComputeWarp : public PencilPlane<Grid> {
  using Plane = PencilPlane<Grid>;
  using Plane::below_, Plane::entries_, Plane::gets_below_, Plane::kGroup, Plane::lane_, Plane::ring_, Plane::s_,
      Plane::steps_;

 public:
  __device__ PencilComputeWarp(PencilShared<Grid>& s, const PencilArguments<Grid>& a, Index pencil,
                               const PencilLocation<Grid>& at, PencilShared<Grid>* next_block, int plane, int steps,
                               int lane)
      : Plane(s, a, pencil, at, next_block, plane, steps, lane) {}

  __device__ void run(int& stage, int& phase) {
    for (int step = 0; step < steps_; step += kGroup) {
      this->wait_for_slots(step);
      wait_for_stage(s_, stage, phase);
      const PencilEntries<Grid> entries = entries_.in_stage(stage);
      const SharedAddress slot = ring_ + static_cast<unsigned>(step % kPencilRing) * kPencilSlotBytes;
      const auto of_below = static_cast<unsigned>(step % kBelowRing * kStepBytes);
      Step now;
      read(now, slot, below_ + of_below, entries, 0);
#pragma unroll
      for (unsigned k = 0; k < kGroup; ++k) {
        double sum = fma(now.pair.x, x_, now.start);
        const double of_line = now.pair.y;
        const double of_plane = now.third;
        double below = now.below;
        const SharedAddress below_at = below_ + of_below + k * kStepBytes;
        while (__all_sync(cuda::kFullWarp, has_come(below)) == 0) below = load_double(below_at);
        sum = fma(of_plane, below, sum);
        if (k + 1 < kGroup) read(now, slot + (k + 1) * kPencilSlotBytes, below_at + kStepBytes, entries, k + 1);
        sum = fma(of_line, x_line_before_, sum);
        if constexpr (kReciprocal) {
          const double inverse = reciprocal(sum);
          sum = lane_ == 0 ? sum : inverse;  // of lane 0 it is one already
        }
        x_ = sum;
        x_line_before_ = of_lane_before(x_);
        this->hand_on_all(k, of_below, x_);
        store_double(slot + k * kPencilSlotBytes, x_);
        store_double_if(below_at, not_yet(), gets_below_);
      }
      next_pencil_stage<Grid>(stage, phase);
      this->end_group(step);
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

  __device__ static void read(Step& step, SharedAddress slot, SharedAddress below, const PencilEntries<Grid>& entries,
                              unsigned k) {
    step.below = load_double(below);
    step.start = load_double(slot);
    step.pair = entries.pair(k, 0);
    step.third = entries.last(k);
  }

  double x_ = 0.0;
  double x_line_before_ = 0.0;  ///< x_ of the lane before
};

}  // namespace taskdag::kernels::cells
