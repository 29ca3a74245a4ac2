/// \file
/// What a row or column of an incomplete factorisation does inside an adaptive task: it takes its predecessors one by
/// one, subtracts a multiple of each from itself, and is published entry by entry where the factor goes: the slots that
/// others wait for are the factor.
///
/// Elimination: the vectors (rows or columns, columns[] ascending) and what eliminates what; trivially copyable.
///   kScalesOwn      a multiplier is the own entry times the predecessor's inverse pivot, and replaces that entry
///   kScalesUpdates  a multiplier is the predecessor's entry at `mirrored` times its inverse pivot
///   kNormalises     a finished vector divides what follows its diagonal by the pivot; multipliers are own entries
///   kRows           the vectors are rows of the factor, so that their pivots can be checked
///   offsets, index, diagonal(v); predecessors t in [first(v), last(v)): vector(t), mirrored(t, v's own entry t where
///   kScalesUpdates is false), updates(t) the first entry of the predecessor that takes part; diagonal_only: nothing
///   but the diagonal entry is updated
#pragma once

#include "backends/cuda/seam.cuh"
#include "kernels/factor/cuda/reporter.cuh"
#include "papers/helal/launcher.hpp"

namespace taskdag::kernels::ata {

/// What changes from attempt to attempt; in device memory, as SolveCall.
struct FactorCall {
  FactorInput input;
  PivotRule rule;
  double* entries;         ///< slots, per entry of the vectors
  double* inverse_pivots;  ///< slots, per vector
  double* unit;            ///< where entries times the inverse pivot go, too, if kScalesUpdates; or null
  FactorReport* report;    ///< null: pivots are not looked at
};

/// Longest vector that is worked on in shared memory.
inline constexpr Index kStagedEntries = 128;

template <class Elimination>
struct FactorBody {
  static constexpr int kBatch = 4;  // predecessors whose positions are looked up before the first of them is waited for
  Elimination elimination;
  const RowTask* task;
  const Index* order;
  const FactorCall* call;
  const Offset* source;  ///< entry → entry of the factor's pattern; null: same
  double* work;          ///< per entry, for vectors longer than kStagedEntries; null if there is none

  /// The vector being worked on.
  struct Vector {
    Index number;
    const Index* index;
    double* value;
    Offset begin;
    Index size;
    Index diagonal;  ///< its position in the vector
    /// Position of an index in the vector, −1 where it has none.
    __device__ Index find(Index wanted) const {
      Index low = 0;
      for (Index length = size; length > 1;) {
        const Index half = length / 2;
        if (index[low + half - 1] < wanted) low += half;
        length -= half;
      }
      return size > 0 && index[low] == wanted ? low : -1;
    }
  };

  /// What others wait for.
  struct Slots {
    double* entries;
    double* inverse_pivots;
  };

  /// Positions of one predecessor, known without its values.
  struct Update {
    Index vector = -1;
    Offset mirrored = 0;
    Offset entry = 0;  // the lane's first, `end` or more: none
    Offset end = 0;
    Index target = -1;  // position of that entry in the own vector
  };

  template <bool Tracked>
  __device__ static double take(double* from, Index i) {
    if constexpr (Tracked) {
      return cuda::Slots{from}.wait(i);
    } else {
      return from[i];
    }
  }

  template <bool Tracked>
  __device__ void run(Index t, int lane) const {
    __shared__ double staged_value[kCoarseWarps][kStagedEntries];
    __shared__ Index staged_index[kCoarseWarps][kStagedEntries];
    const int warp = static_cast<int>(threadIdx.x) / cuda::kWarpSize;
    const Index v = order[task[t].first];
    const Offset begin = elimination.offsets[v];
    const Index size = elimination.offsets[v + 1] - begin;
    const bool staged = size <= kStagedEntries;
    const Vector own{v,
                     staged ? staged_index[warp] : elimination.index + begin,
                     staged ? staged_value[warp] : work + begin,
                     begin,
                     size,
                     elimination.diagonal(v) - begin};
    const FactorCall& now = *call;
    const Slots slots{now.entries, now.inverse_pivots};
    const FactorInput input = now.input;
    for (Index k = lane; k < size; k += cuda::kWarpSize) {
      if (staged) staged_index[warp][k] = elimination.index[begin + k];
      const double value = input.value(entry_of(begin + k));
      own.value[k] = k == own.diagonal ? input.shift.applied_to(value) : value;
    }
    __syncwarp();

    const Offset last = elimination.last(v);
    for (Offset first = elimination.first(v); first < last; first += kBatch) {
      Update update[kBatch];
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        if (first + b < last) update[b] = look(own, first + b, lane);
      }
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        if (first + b < last) apply<Tracked>(slots, own, update[b], lane);
      }
    }
    publish(now, slots, own, lane);
    if constexpr (Elimination::kRows) check(now, own, lane);
    __syncwarp();  // the staging is the next task's
  }

 private:
  __device__ Offset entry_of(Offset e) const { return source ? source[e] : e; }

  /// The position of what an entry in that row or column updates, −1: nothing.
  __device__ Index target_of(const Vector& own, Index index) const {
    if (elimination.diagonal_only) return index == own.number ? own.diagonal : -1;
    return own.find(index);
  }

  __device__ Update look(const Vector& own, Offset t, int lane) const {
    Update update;
    update.vector = elimination.vector(t);
    update.mirrored = elimination.mirrored(t);
    update.entry = elimination.updates(t, update.vector) + lane;
    update.end = elimination.offsets[update.vector + 1];
    if (update.entry < update.end) update.target = target_of(own, elimination.index[update.entry]);
    return update;
  }

  /// Reached by the whole warp with the same predecessor.
  template <bool Tracked>
  __device__ void apply(const Slots& slots, const Vector& own, const Update& update, int lane) const {
    double multiplier;
    if constexpr (Elimination::kScalesUpdates) {
      multiplier = take<Tracked>(slots.entries, update.mirrored) * take<Tracked>(slots.inverse_pivots, update.vector);
    } else {
      multiplier = own.value[update.mirrored - own.begin];
      // As the reference: a multiplier of exactly zero skips its vector.
      if (multiplier == 0.0) return;
      if constexpr (Elimination::kScalesOwn) multiplier *= take<Tracked>(slots.inverse_pivots, update.vector);
    }
    if (update.target >= 0) own.value[update.target] -= multiplier * take<Tracked>(slots.entries, update.entry);
    for (Offset e = update.entry + cuda::kWarpSize; e < update.end; e += cuda::kWarpSize) {
      const Index target = target_of(own, elimination.index[e]);
      if (target >= 0) own.value[target] -= multiplier * take<Tracked>(slots.entries, e);
    }
    if constexpr (Elimination::kScalesOwn) {
      __syncwarp();  // everybody has read the entry that is replaced
      if (lane == 0) own.value[update.mirrored - own.begin] = multiplier;
    }
    __syncwarp();
  }

  __device__ void publish(const FactorCall& now, const Slots& slots, const Vector& own, int lane) const {
    const double pivot = shifted_pivot(now.rule, own.value[own.diagonal]);
    const double inverse = 1.0 / pivot;
    [[maybe_unused]] double* const unit = now.unit;
    if (lane == 0) cuda::Slots{slots.inverse_pivots}.publish(own.number, inverse);
    for (Index k = lane; k < own.size; k += cuda::kWarpSize) {
      double value = k == own.diagonal ? pivot : own.value[k];
      if constexpr (Elimination::kNormalises) {
        if (k > own.diagonal) value /= pivot;
      }
      cuda::Slots{slots.entries}.publish(own.begin + k, value);
      if constexpr (Elimination::kScalesUpdates) {
        if (unit != nullptr) unit[own.begin + k] = publishable(value * inverse);
      }
    }
  }

  /// No task waits for this. The vector still has the pivot that elimination has left.
  __device__ void check(const FactorCall& now, const Vector& own, int lane) const {
    if (now.report == nullptr) return;
    double absolute_sum = 0.0;
    for (Index k = lane; k < own.size; k += cuda::kWarpSize) {
      if (k != own.diagonal) absolute_sum += fabs(own.value[k]);
    }
    absolute_sum = cuda::LaneGroup(lane, cuda::kWarpSize).sum(absolute_sum);
    if (lane != 0) return;
    const DiagonalEntry before = now.input.diagonal(now.rule, entry_of(own.begin + own.diagonal));
    static_cast<void>(check_pivot(now.rule, own.number, own.value[own.diagonal], absolute_sum, before,
                                  elimination::Reporter{now.report}));
  }
};

}  // namespace taskdag::kernels::ata
