/// \file
/// The compute warp: one warp walks the steps of a cell.
///
/// A lone warp issues an instruction about every four cycles, so the step's time is its number of instructions. Hence
/// addresses with constant offsets, four steps at a time, and one vote for the start values of the four.
#pragma once

#include "kernels/sptrsv/schedules/cells/run/reciprocal.cuh"
#include "kernels/sptrsv/schedules/cells/run/shared.cuh"

namespace taskdag::kernels::cells {

/// What the compute warp reads of a step before it is due.
template <int P>
struct Loaded {
  double2 value[P];
  uint2 operand[P];
  double start;

  /// `values`, `operands`: this lane's in the first pair row.
  __device__ void load_entries(SharedAddress values, SharedAddress operands) {
#pragma unroll
    for (int p = 0; p < P; ++p) {
      value[p] = load_double2(values + static_cast<unsigned>(p * kPairRowBytes));
      operand[p] = load_uint2(operands + static_cast<unsigned>(p * kPairRowBytes));
    }
  }
};

/// The compute warp's addresses in a chunk. Chunks begin at steps that are multiples of their length, so no ring wraps
/// inside.
struct ComputeWarpView {
  SharedAddress ring;   ///< its first element
  SharedAddress own;    ///< of the present step in the ring, this lane
  SharedAddress start;  ///< of the present step, this lane
  SharedAddress done;
  double* slot;  ///< of the present step, this lane
  int step;
  bool first_lane;
};

/// What a step makes of a row: lanes of a row, and whether its result is one over the sum.
template <int kWaysOfRow, bool kReciprocalOfSum>
struct StepKind {
  static constexpr int kWays = kWaysOfRow;
  static constexpr bool kReciprocal = kReciprocalOfSum;
};

/// A row's result from the sums of its lanes. Each of these lanes gets it.
template <class Kind>
__device__ double of_row(double result) {
#pragma unroll
  for (int other = 1; other < Kind::kWays; other *= 2) result += __shfl_xor_sync(0xFFFFFFFFU, result, other);
  if constexpr (Kind::kReciprocal) result = reciprocal(result);
  return result;
}

/// One step whose entries are loaded. `offset`: steps after view.step. Between its loads and its store it
/// calls `ahead`, which fetches for the next one.
template <class Kind, int P, class Ahead>
__device__ void run_step(const ComputeWarpView& view, const Loaded<P>& now, double start, int offset,
                         const Ahead& ahead) {
  double first[P];
  double second[P];
#pragma unroll
  for (int p = 0; p < P; ++p) {
    first[p] = load_double(view.ring + now.operand[p].x);
    second[p] = load_double(view.ring + now.operand[p].y);
  }
  ahead();
  double result = start;
#pragma unroll
  for (int p = 0; p < P; ++p) {
    result -= now.value[p].x * first[p];
    result -= now.value[p].y * second[p];
  }
  result = of_row<Kind>(result);
  store_double(view.own + static_cast<unsigned>(offset * kStepBytes), result);
  publish(view.slot + offset * kLanes, result);
  __syncwarp();
}

/// The same for a step with many entries, which are loaded here: nothing is gained by loading them earlier.
template <class Kind, int P>
__device__ void run_wide_step(const ComputeWarpView& view, SharedAddress values, SharedAddress operands, double start,
                              int offset) {
  uint2 operand[P];
#pragma unroll
  for (int p = 0; p < P; ++p) operand[p] = load_uint2(operands + static_cast<unsigned>(p * kPairRowBytes));
  double first[P];
  double second[P];
#pragma unroll
  for (int p = 0; p < P; ++p) {
    first[p] = load_double(view.ring + operand[p].x);
    second[p] = load_double(view.ring + operand[p].y);
  }
  double result = start;
#pragma unroll
  for (int p = 0; p < P; ++p) {
    const double2 value = load_double2(values + static_cast<unsigned>(p * kPairRowBytes));
    result -= value.x * first[p];
    result -= value.y * second[p];
  }
  result = of_row<Kind>(result);
  store_double(view.own + static_cast<unsigned>(offset * kStepBytes), result);
  publish(view.slot + offset * kLanes, result);
  __syncwarp();
}

/// Steps with more pairs than this are run by run_wide_step().
inline constexpr int kEarlyPairs = 3;

/// Waits for a step's start value and makes room for the next one there.
__device__ inline double take_start(const ComputeWarpView& view, int offset) {
  const SharedAddress at = view.start + static_cast<unsigned>(offset * kStepBytes);
  double start = load_double(at);
  while (!__all_sync(0xFFFFFFFFU, has_come(start))) start = load_double(at);
  store_double(at, not_yet());
  return start;
}

/// Runs `count` steps from view.step one by one, each as soon as its start values are there.
template <class Kind, int P>
__device__ void run_singly(const ComputeWarpView& view, SharedAddress values, SharedAddress operands, int count) {
#pragma unroll 1
  for (int k = 0; k < count; ++k) {
    const unsigned at = static_cast<unsigned>(k * P * kPairRowBytes);
    if constexpr (P <= kEarlyPairs) {
      Loaded<P> now;
      now.load_entries(values + at, operands + at);
      run_step<Kind, P>(view, now, take_start(view, k), k, [] {});
    } else {
      run_wide_step<Kind, P>(view, values + at, operands + at, take_start(view, k), k);
    }
    if (view.first_lane) store_done(view.done, view.step + k + 1);
  }
}

/// Runs `count` steps of a chunk from view.step; `values`, `operands`: this lane's in the first pair row. Groups of
/// which not all start values are there yet are run step by step: a later one may wait for an earlier step of the
/// group.
template <class Kind, int P>
__device__ void run_chunk(ComputeWarpView& view, SharedAddress values, SharedAddress operands, int count) {
  constexpr unsigned kBytes = P * kPairRowBytes;
  constexpr bool kEarly = P <= kEarlyPairs;
  // Of this step and the next, alternately, so that a load never waits for the last reader of its target.
  Loaded<P> loaded[2];
  if constexpr (kEarly) loaded[0].load_entries(values, operands);
  for (; count >= kGroup; count -= kGroup) {
    double start[kGroup];
    bool all = true;
#pragma unroll
    for (int k = 0; k < kGroup; ++k) start[k] = load_double(view.start + static_cast<unsigned>(k * kStepBytes));
#pragma unroll
    for (int k = 0; k < kGroup; ++k) all = all && has_come(start[k]);
    if (__all_sync(0xFFFFFFFFU, all)) {
#pragma unroll
      for (int k = 0; k < kGroup; ++k) {
        const unsigned at = static_cast<unsigned>(kEarly ? k + 1 : k) * kBytes;
        const SharedAddress own_start = view.start + static_cast<unsigned>(k * kStepBytes);
        if constexpr (kEarly) {
          run_step<Kind, P>(view, loaded[k % 2], start[k], k, [&] {
            loaded[(k + 1) % 2].load_entries(values + at, operands + at);  // past the chunk: not used
            store_double(own_start, not_yet());
          });
        } else {
          store_double(own_start, not_yet());
          run_wide_step<Kind, P>(view, values + at, operands + at, start[k], k);
        }
      }
    } else {
      run_singly<Kind, P>(view, values, operands, kGroup);
      if constexpr (kEarly) loaded[0].load_entries(values + kGroup * kBytes, operands + kGroup * kBytes);
    }
    values += kGroup * kBytes;
    operands += kGroup * kBytes;
    view.own += kGroup * kStepBytes;
    view.start += kGroup * kStepBytes;
    view.slot += kGroup * kLanes;
    view.step += kGroup;
    if (view.first_lane) store_done(view.done, view.step);
  }
  run_singly<Kind, P>(view, values, operands, count);  // the last steps of a cell
}

template <class Kind, int P = 1>
__device__ void run_chunk_of(int pairs, ComputeWarpView& view, SharedAddress values, SharedAddress operands,
                             int count) {
  if constexpr (P <= kMaxPairs) {
    if (pairs == P) {
      run_chunk<Kind, P>(view, values, operands, count);
    } else {
      run_chunk_of<Kind, P + 1>(pairs, view, values, operands, count);
    }
  }
}

}  // namespace taskdag::kernels::cells
