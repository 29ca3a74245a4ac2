/// \file
/// The compute warp of a band: one warp, a lane a line.
///
/// A lone warp issues an instruction about every four cycles, so all of a step that can be is done before it is due:
/// entries and starts of the next kBandGroup steps are read while these are run, and looked at by one vote.
#pragma once

#include <cuda/ptx>

#include "kernels/sptrsv/schedules/cells/bands/shared.cuh"
#include "kernels/sptrsv/schedules/cells/run/lane_before.cuh"
#include "kernels/sptrsv/schedules/cells/run/reciprocal.cuh"

namespace taskdag::kernels::cells {

inline constexpr int kBandGroup = 8;
static_assert(kChunk == 2 * kBandGroup);

/// Hands a result on: `to` is in the memory of the device or of another block of the cluster. A predicate, no branch.
__device__ inline void hand_on(double* to, double value, unsigned column, unsigned columns) {
  asm volatile("{.reg .pred has; setp.lt.u32 has, %2, %3; @has st.relaxed.gpu.f64 [%0], %1;}" ::"l"(to), "d"(value),
               "r"(column), "r"(columns)
               : "memory");
}

template <class Value, bool kReciprocal>
class BandComputeWarp {
 public:
  /// to: where the results of the last line go, by column; null: nowhere.
  __device__ BandComputeWarp(BandShared<Value>& s, const BandArguments<Value>& a, double* to, int lane)
      : s_(s),
        chunks_(a.chunks),
        columns_(static_cast<unsigned>(a.bands.columns)),
        lane_(lane),
        column_(to != nullptr && lane == kLanes - 1 ? 1U - kLanes : 1U << 31),
        to_(to - (kLanes - 1)),
        ring_(address_of(s.ring) + static_cast<unsigned>(lane) * 8),
        entries_(address_of(s.stage[0]) + static_cast<unsigned>(lane) * 2 * sizeof(Value)) {}

  __device__ void run(int& stage, int& phase) {
    const SharedAddress ring_end = ring_ + kBandRing * kSlotBytes;
    Group even;
    Group odd;
    wait_for_stage(stage, phase);
    SharedAddress entries = entries_of(stage);
#pragma unroll
    for (int k = 0; k < kBandGroup; ++k)
      even.entry[k] = load_pair<Value>(entries + static_cast<unsigned>(k) * kStepBytes);
    SharedAddress slot = ring_;
    wait_for_starts(even, slot, 0);
    for (int chunk = 0; chunk < chunks_; ++chunk) {
      const SharedAddress middle = slot + kBandGroup * kSlotBytes;
      if (!run_group(even, odd, slot, middle, entries + kGroupEntryBytes, chunk)) wait_for_starts(odd, middle, chunk);
      if (++stage == kBandStages) {
        stage = 0;
        phase ^= 1;
      }
      entries = entries_of(stage);
      slot = middle + kBandGroup * kSlotBytes;
      if (slot == ring_end) slot = ring_;
      const bool last = chunk + 1 == chunks_;
      if (!last) wait_for_stage(stage, phase);
      if (!run_group(odd, even, middle, slot, entries, chunk + 1) && !last) wait_for_starts(even, slot, chunk + 1);
    }
  }

 private:
  static constexpr unsigned kStepBytes = BandBytes<Value>::kStep;
  static constexpr unsigned kGroupEntryBytes = kBandGroup * kStepBytes;

  /// What is read before it is due.
  struct Group {
    double start[kBandGroup];
    double2 entry[kBandGroup];
  };

  __device__ SharedAddress entries_of(int stage) const {
    return entries_ + static_cast<unsigned>(stage) * static_cast<unsigned>(BandBytes<Value>::kChunk);
  }
  __device__ void wait_for_stage(int stage, int phase) const {
    while (!::cuda::ptx::mbarrier_try_wait_parity(&s_.arrived[stage], static_cast<std::uint32_t>(phase))) {
    }
  }

  /// Runs the group `now`, which begins at `slot`, and reads the next one, of `next_chunk`.
  /// @returns whether all its starts had come
  __device__ bool run_group(const Group& now, Group& next, SharedAddress slot, SharedAddress next_slot,
                            SharedAddress next_entries, int next_chunk) {
    int stored = 0;
    bool ready = true;
#pragma unroll
    for (int k = 0; k < kBandGroup; ++k) {
      const auto step = static_cast<unsigned>(k);
      const double line_before = of_lane_before(x_);
      x_ = fma(now.entry[k].y, line_before, fma(now.entry[k].x, x_, now.start[k]));
      if constexpr (kReciprocal) x_ = reciprocal(x_);
      if (k == 0) stored = load_int(stored_of(s_, next_chunk));
      if (k < kBandGroup / 2) {
        next.start[2 * k] = load_double(next_slot + 2 * step * kSlotBytes);
        next.start[2 * k + 1] = load_double(next_slot + (2 * step + 1) * kSlotBytes);
      }
      next.entry[k] = load_pair<Value>(next_entries + step * kStepBytes);
      store_double(slot + step * kSlotBytes, x_);
      hand_on(to_ + k, x_, column_ + step, columns_);
      if (k == kBandGroup - 2) ready = have_come(next, stored, next_chunk);
    }
    to_ += kBandGroup;
    column_ += kBandGroup;
    steps_ += kBandGroup;
    __syncwarp();
    if (lane_ == 0) store_done(address_of(&s_.done), steps_);
    return ready;
  }

  __device__ static bool have_come(const Group& group, int stored, int chunk) {
    bool all = stored >= free_from(chunk);
#pragma unroll
    for (int k = 0; k < kBandGroup; ++k) all = all & has_come(group.start[k]);
    return __all_sync(0xFFFFFFFFU, all) != 0;
  }

  __device__ void wait_for_starts(Group& group, SharedAddress slot, int chunk) const {
    for (;;) {
      const int stored = load_int(stored_of(s_, chunk));
#pragma unroll
      for (int k = 0; k < kBandGroup; ++k) group.start[k] = load_double(slot + static_cast<unsigned>(k) * kSlotBytes);
      if (have_come(group, stored, chunk)) return;
    }
  }

  BandShared<Value>& s_;
  int chunks_;
  unsigned columns_;
  int lane_;
  unsigned column_;  ///< whose result goes to *to_; above columns_: none does
  double* to_;
  SharedAddress ring_;
  SharedAddress entries_;
  double x_ = 0.0;
  int steps_ = 0;
};

}  // namespace taskdag::kernels::cells
