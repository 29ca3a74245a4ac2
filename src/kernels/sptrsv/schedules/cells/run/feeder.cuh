/// \file
/// Feeders: each takes every kFeeders-th step of a cell, computes what the compute warp starts its rows from where that
/// is the right-hand side alone, and writes the results of the step kAhead before out.
#pragma once

#include "backends/cuda/seam.cuh"
#include "kernels/sptrsv/schedules/cells/run/shared.cuh"
#include "kernels/sptrsv/schedules/cells/run/solve.hpp"

namespace taskdag::kernels::cells {

inline constexpr int kFeeders = 8;
static_assert(kAhead % kFeeders == 0, "a feeder writes out what it fed");

class Feeder {
 public:
  __device__ Feeder(Shared& s, const SolveArguments& a, const Cell& cell, int lane)
      : a_(a),
        steps_(cell.steps),
        first_(static_cast<unsigned>(cell.first_step) * kLanes + static_cast<unsigned>(lane)),
        ring_(address_of(s.ring) + static_cast<unsigned>(lane) * 8),
        start_(address_of(s.start) + static_cast<unsigned>(lane) * 8),
        x_index_(address_of(s.x_index) + static_cast<unsigned>(lane) * 4),
        done_(address_of(&s.done)) {}

  /// Targets are fetched four visits ahead and right-hand sides two. Visits are named by constants: copying one to
  /// another would wait for its loads.
  __device__ void feed(int feeder) {
    Target target[kVisits];
    double rhs[kVisits];
#pragma unroll
    for (int v = 0; v < kVisits; ++v) target[v] = fetch_target(feeder + v * kFeeders);
#pragma unroll
    for (int v = 0; v < kVisits / 2; ++v) rhs[v] = fetch_rhs(target[v]);
    for (int first = feeder; first < steps_; first += kVisits * kFeeders) {
#pragma unroll
      for (int v = 0; v < kVisits; ++v) {
        const int t = first + v * kFeeders;
        rhs[(v + kVisits / 2) % kVisits] = fetch_rhs(target[(v + kVisits / 2) % kVisits]);
        if (t < steps_) visit(t, target[v], rhs[v]);
        target[v] = fetch_target(t + kVisits * kFeeders);
      }
    }
    write_rest(feeder);
  }

 private:
  static constexpr int kVisits = 4;

  __device__ Target fetch_target(int t) const {
    Target target{-1, -1, 0.0};
    if (t < steps_) {
      const int4 raw = __ldg(reinterpret_cast<const int4*>(a_.target) + (first_ + static_cast<unsigned>(t) * kLanes));
      memcpy(&target, &raw, sizeof(Target));
    }
    return target;
  }

  /// The read-only path is not used, since the kernel before may have been writing the right-hand side when this one
  /// began.
  __device__ double fetch_rhs(const Target& target) const { return target.rhs >= 0 ? a_.rhs[target.rhs] : a_.idle_rhs; }

  __device__ void visit(int t, const Target& target, double rhs) const {
    const auto at = static_cast<unsigned>(t) % kAhead;
    if (t >= kAhead) {
      wait_done(done_, t + 1 - kAhead);
      write_out(static_cast<unsigned>(t - kAhead));
    }
    if (a_.x) store_int(x_index_ + at * (kLanes * 4), target.x);
    // The compute warp's arithmetic makes no not_yet where there was none.
    if (target.rhs != kOutsideRow) store_double(start_ + at * kStepBytes, with_plain_nan(rhs * target.pivot));
    a_.next_slots[first_ + static_cast<unsigned>(t) * kLanes] = not_yet();
  }

  __device__ void write_out(unsigned t) const {
    double result = load_double(ring_ + t % kHistory * kStepBytes);
    // Where all rows of the steps in between were outside rows, the compute warp needed no feeder for them and may have
    // come round the ring.
    if (load_done(done_) > static_cast<int>(t) + kHistory - kGroup) {
      result = cuda::Slots{a_.slots}.wait(static_cast<Index>(first_ + t * kLanes));
    }
    if (!is_finite(result)) *a_.non_finite = 1;
    if (!a_.x) return;
    const int index = load_int(x_index_ + t % kAhead * (kLanes * 4));
    if (index >= 0) a_.x[index] = result;
  }

  /// Writes out the results of the last kAhead steps of the cell, which no later step follows.
  __device__ void write_rest(int feeder) const {
    int t = feeder;
    if (steps_ > kAhead) t += (steps_ - kAhead - feeder + kFeeders - 1) / kFeeders * kFeeders;
    for (; t < steps_; t += kFeeders) {
      wait_done(done_, t + 1);
      write_out(static_cast<unsigned>(t));
    }
  }

  const SolveArguments& a_;
  int steps_;
  unsigned first_;  // the lane's first position
  SharedAddress ring_;
  SharedAddress start_;
  SharedAddress x_index_;
  SharedAddress done_;
};

}  // namespace taskdag::kernels::cells
