/// \file
/// Fetchers: warps that wait for operands of other cells (and of the own cell, where the ring has forgotten them) and
/// compute what the compute warp starts such rows from.
///
/// A warp takes a batch of outside rows, rows of some consecutive steps. Each is done as soon as its own operands are
/// there: a later row of the batch may wait for an earlier one, so none waits for all. A row has as many lanes as it
/// takes for kHeld entries a lane, whatever the others have; only rows with more than 32 · kHeld, which have a batch of
/// their own, wait for one load of operands after the other.
#pragma once

#include "backends/cuda/seam.cuh"
#include "kernels/sptrsv/schedules/cells/run/shared.cuh"
#include "kernels/sptrsv/schedules/cells/run/solve.hpp"

namespace taskdag::kernels::cells {

inline constexpr int kFetchers = 14;
// Looks at operands share the path to memory with the compute warp's reads of shared memory: a lane looks (but for a
// first time) only once the compute warp is near its step, and a warp none of whose rows is near pauses.
inline constexpr int kNear = 32;              ///< steps
inline constexpr unsigned kShortPause = 100;  ///< nanoseconds
inline constexpr unsigned kLongPause = 400;

class Fetcher {
 public:
  __device__ Fetcher(Shared& s, const SolveArguments& a, const Cell& cell, Index absent, int lane)
      : a_(a),
        cell_(cell),
        batches_(cell.batches),
        slots_{a.slots},
        absent_(absent),
        lane_(lane),
        start_(address_of(s.start)),
        done_(address_of(&s.done)) {}

  __device__ void fetch(int fetcher) {
    OutsideRows first;
    OutsideRows second;
    OutsideRows third;
    int r = fetcher;
    fetch_outside_row(first, r);
    fetch_outside_row(second, r + kFetchers);
    fetch_entries(first);
    // Three batches by name: copying one to another would wait for its loads.
    while (r < batches_) {
      run(first, second, third, r);
      r += kFetchers;
      if (r >= batches_) break;
      run(second, third, first, r);
      r += kFetchers;
      if (r >= batches_) break;
      run(third, first, second, r);
      r += kFetchers;
    }
  }

 private:
  struct OutsideRows {
    Batch batch;
    OutsideRow outside_row;
    double rhs;
    Index position[kHeld];  ///< the last kHeld
    double value[kHeld];
  };

  __device__ void fetch_outside_row(OutsideRows& outside_rows, int r) const {
    outside_rows.outside_row = {-1, kNoOutsideRow, 0.0};
    outside_rows.batch = {0, 0};
    if (r >= batches_) return;
    const int at = cell_.first_batch + r;
    const uint2 batch = __ldg(reinterpret_cast<const uint2*>(a_.batch) + at);
    outside_rows.batch = {batch.x, batch.y};
    const int4 raw = __ldg(reinterpret_cast<const int4*>(a_.outside_row) + (at * kLanes + lane_));
    memcpy(&outside_rows.outside_row, &raw, sizeof(OutsideRow));
  }

  __device__ unsigned entry_of(const OutsideRows& outside_rows, int k) const {
    return (outside_rows.batch.first_row + static_cast<unsigned>(k)) * kLanes + static_cast<unsigned>(lane_);
  }

  __device__ void fetch_entries(OutsideRows& outside_rows) const {
    outside_rows.rhs = outside_rows.outside_row.rhs >= 0 ? a_.rhs[outside_rows.outside_row.rhs]
                                                         : 0.0;  // not __ldg: the kernel before may have written it
    load(outside_rows.position, outside_rows.value, outside_rows,
         max(static_cast<int>(outside_rows.batch.width()) - kHeld, 0));
  }

  /// kHeld entries from entry `first` of the lane; absent ones get the value 0.
  __device__ void load(Index (&position)[kHeld], double (&value)[kHeld], const OutsideRows& outside_rows,
                       int first) const {
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      position[k] = absent_;
      value[k] = 0.0;
      if (first + k < static_cast<int>(outside_rows.batch.width())) {
        position[k] = __ldg(a_.outside_position + entry_of(outside_rows, first + k));
        value[k] = __ldg(a_.outside_value + entry_of(outside_rows, first + k));
      }
    }
  }

  __device__ void run(const OutsideRows& now, OutsideRows& next, OutsideRows& later, int r) {
    double operand[kHeld];
    fetch_outside_row(later, r + 2 * kFetchers);
    // The lane's share of the start value but for its last entries; the right-hand side is the first lane's.
    double share = now.rhs * now.outside_row.pivot;
    if (now.batch.width() > kHeld) share -= sum_early(now);
    look(now.position, operand);
    fetch_entries(next);

    const int step = now.outside_row.step();
    const int lanes = 1 << now.outside_row.log2_lanes();
    const unsigned group = cuda::kFullWarp >> (kLanes - lanes) << (lane_ & -lanes);
    bool open = now.outside_row.position != kNoOutsideRow;
    for (;;) {
      const int done = load_done(done_);
      bool ready = open && done >= step + 1 - kAhead;
#pragma unroll
      for (int k = 0; k < kHeld; ++k) ready = ready && is_ready(operand[k]);
      const unsigned ready_lanes = __ballot_sync(cuda::kFullWarp, ready);
      const bool complete = open && (ready_lanes & group) == group;
      if (__any_sync(cuda::kFullWarp, complete)) {
        double sum = share;
#pragma unroll
        for (int k = 0; k < kHeld; ++k) sum -= now.value[k] * operand[k];
        for (int offset = (1 << now.batch.log2_lanes()) / 2; offset > 0; offset /= 2) {
          const double other = __shfl_xor_sync(cuda::kFullWarp, sum, offset);
          if (offset < lanes) sum += other;
        }
        if (complete && (lane_ & (lanes - 1)) == 0) {
          const unsigned at = now.outside_row.position / 8 % (kAhead * kLanes);
          store_double(start_ + at * 8, with_plain_nan(sum));
        }
        open = open && !complete;
        if (!__any_sync(cuda::kFullWarp, open)) return;
      }
      const int earliest = __reduce_min_sync(cuda::kFullWarp, open ? step : INT_MAX);
      if (earliest - done > kNear) __nanosleep(earliest - done > 2 * kNear ? kLongPause : kShortPause);
      if (open && step - done <= kNear) {
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
          if (!is_ready(operand[k])) operand[k] = slots_.peek(now.position[k]);
        }
      }
    }
  }

  /// A first look at operands; absent ones are 0 and are not looked at: all blocks would look at the same address.
  __device__ void look(const Index (&position)[kHeld], double (&operand)[kHeld]) const {
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      operand[k] = 0.0;
      if (position[k] != absent_) operand[k] = slots_.peek(position[k]);
    }
  }

  /// The entries before the last kHeld of each lane of a long row.
  __device__ double sum_early(const OutsideRows& now) const {
    double sum = 0.0;
    const int early = static_cast<int>(now.batch.width()) - kHeld;
    for (int first = 0; first < early; first += kHeld) {
      Index position[kHeld];
      double value[kHeld];
      double operand[kHeld];
      load(position, value, now, first);
      look(position, operand);
#pragma unroll
      for (int k = 0; k < kHeld; ++k) {
        while (!is_ready(operand[k])) operand[k] = slots_.peek(position[k]);
        if (first + k < early) sum += value[k] * operand[k];
      }
    }
    return sum;
  }

  const SolveArguments& a_;
  const Cell& cell_;
  int batches_;
  cuda::Slots slots_;
  Index absent_;
  int lane_;
  SharedAddress start_;
  SharedAddress done_;
};

}  // namespace taskdag::kernels::cells
