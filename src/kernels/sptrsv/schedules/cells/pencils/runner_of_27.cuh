/// \file
/// A runner of a plane of a pencil of a grid of 27 points: one warp, a lane a line.
///
/// Lane l is two columns behind lane l − 1, and the plane a step behind what it needs of the plane below. There the
/// same lane has the line after that of the row, the lane before it the line beside, and the lane before that the line
/// before. So a step takes three new values: its own result of the step before, that of the lane before, and one from
/// `below`; all others were such values one to six steps ago, here or in a lane before. What these make of the next row
/// is added up ahead.
#pragma once

#include "kernels/sptrsv/schedules/cells/pencils/runner.cuh"

namespace taskdag::kernels::cells {

/// Grid: TwentySevenPoints, in double or in single precision.
template <class Grid>
class RunnerOf27 : public PencilPlane<Grid> {
  using Plane = PencilPlane<Grid>;
  using Plane::below_, Plane::entries_, Plane::gets_below_, Plane::kGroup, Plane::ring_, Plane::s_, Plane::steps_;

 public:
  __device__ RunnerOf27(PencilShared<Grid>& s, const PencilArguments<Grid>& a, Index pencil,
                        const PencilPlace<Grid>& at, PencilShared<Grid>* next_block, int plane, int steps, int lane)
      : Plane(s, a, pencil, at, next_block, plane, steps, lane),
        passes_(lane < Grid::kPassing && at.has_before(a.pencils)),
        has_line_(has_line(a.pencils, at, plane, lane)) {}

  __device__ void run(int& stage, int& phase) {
    after_[0] = wait_for(below_);
    store_double_if(below_, not_yet(), gets_below_);
    next_beside_ = of_lane_before(after_[0]);
    Entries next = begin_group(0, stage, phase);
    Step now = sum_of(next);
    double start = load_double(ring_);
    double below = load_double(below_ + kStepBytes);
    for (int step = 0; step < steps_; step += kGroup) {
      const PencilEntries<Grid> entries = entries_.in_stage(stage);
      const SharedAddress place = kept(ring_of(step));
      const auto of_below = static_cast<unsigned>(step % kBelowRing * kStepBytes);
      const SharedAddress below_group = kept(below_ + of_below);
      const SharedAddress below_next = below_ + static_cast<unsigned>((step + kGroup) % kBelowRing * kStepBytes);
      const bool ends = step + kGroup == steps_;
#pragma unroll
      for (unsigned k = 0; k < kGroup; ++k) {
        const bool last = k + 1 == kGroup;
        const SharedAddress start_at = place + k * kPencilPlaceBytes;
        const SharedAddress below_at = last ? below_next : below_group + (k + 1) * kStepBytes;
        // Early, it takes long.
        if (!last) {
          next = load(entries, k + 1);
        } else {
          next_pencil_stage<Grid>(stage, phase);
          if (!ends) next = begin_group(step + kGroup, stage, phase);
        }
        const double sum = fma(now.line, line_[0], fma(now.own, x_, now.sum));
        if (last && ends) below = 0.0;  // no lane has a column
        while (__all_sync(cuda::kFullWarp, has_come(below) && has_come(start)) == 0) {
          start = load_double(start_at);
          if (!(last && ends)) below = load_double(below_at);
        }
        const double from_below = fma(now.after, below, start);
        x_ = has_line_ ? sum + from_below : start;
        const double line_before = of_lane_before(x_);
        this->hand_on_all(k, of_below, x_);
        store_double(start_at, passes_ ? not_yet() : x_);
        store_double_if(below_at, not_yet(), gets_below_);
        go_on(below);
        start = load_double(last ? ring_of(step + kGroup) : start_at + kPencilPlaceBytes);
        below = load_double(last              ? below_next + kStepBytes
                            : k + 2 == kGroup ? below_next
                                              : below_group + (k + 2) * kStepBytes);
        now = sum_of(next);
        line_[0] = line_before;
      }
      this->end_group(step);
    }
  }

 private:
  /// Of a step, by Grid::entry().
  struct Entries {
    double2 pair[6];
    double last;
  };
  /// What a step takes beside the newest values.
  struct Step {
    double own;    ///< factors of the newest values: of the row before,
    double line;   ///< of the line before,
    double after;  ///< of the plane below
    double sum;    ///< of all others
  };

  __device__ double wait_for(SharedAddress place) const {
    for (;;) {
      const double value = load_double(place);
      if (__all_sync(cuda::kFullWarp, has_come(value)) != 0) return value;
    }
  }
  __device__ SharedAddress ring_of(int step) const {
    return ring_ + static_cast<unsigned>(step % kPencilRing) * kPencilPlaceBytes;
  }
  /// Waits until the group from `step` on may run. @returns its first entries
  __device__ Entries begin_group(int step, int stage, int phase) const {
    this->wait_for_places(step);
    wait_for_stage(s_, stage, phase);
    return load(entries_.in_stage(stage), 0);
  }
  __device__ static Entries load(const PencilEntries<Grid>& entries, unsigned step) {
    Entries result;
#pragma unroll
    for (unsigned k = 0; k < 6; ++k) result.pair[k] = entries.pair(step, k);
    result.last = entries.last(step);
    return result;
  }
  /// In three sums that do not wait for each other, of values that are there.
  __device__ Step sum_of(const Entries& of) const {
    double sum = of.pair[1].x * line_[1];
    sum = fma(of.pair[1].y, line_[2], sum);
    sum = fma(of.pair[2].y, after_[0], sum);
    double beside = of.pair[3].x * after_[1];
    beside = fma(of.pair[3].y, beside_[0], beside);
    beside = fma(of.pair[4].x, beside_[1], beside);
    beside = fma(of.pair[4].y, beside_[2], beside);
    double before = of.pair[5].x * before_[0];
    before = fma(of.pair[5].y, before_[1], before);
    before = fma(of.last, before_[2], before);
    return {of.pair[0].x, of.pair[0].y, of.pair[2].x, sum + beside + before};
  }
  /// To the next column, but for line_[0], which comes last.
  __device__ void go_on(double below) {
    before_[2] = before_[1];
    before_[1] = before_[0];
    before_[0] = next_before_;
    next_before_ = of_lane_before(beside_[0]);
    beside_[2] = beside_[1];
    beside_[1] = beside_[0];
    beside_[0] = next_beside_;
    next_beside_ = of_lane_before(below);
    after_[1] = after_[0];
    after_[0] = below;
    line_[2] = line_[1];
    line_[1] = line_[0];
  }

  bool passes_;    ///< what somebody brings
  bool has_line_;  ///< a lane without one passes on what it starts from: that, or 0
  double x_ = 0.0;
  // Results by line, of the column after this one, of this column, of the one before it.
  double line_[3] = {};       ///< of the line before
  double beside_[3] = {};     ///< of the plane below: the line beside
  double before_[3] = {};     ///< and the one before that
  double after_[2] = {};      ///< of the line after it without the newest value: of this column, of the one before it
  double next_beside_ = 0.0;  ///< of the next step's beside_[0], a step early: it comes by a shuffle
  double next_before_ = 0.0;  ///< and before_[0]
};

}  // namespace taskdag::kernels::cells
