/// \file
/// What a row or column of an incomplete factorisation does inside an adaptive task: it takes its predecessors one by
/// one and subtracts a multiple of each from itself.
///
/// Elimination: the vectors (rows or columns, columns[] ascending) and what eliminates what; trivially copyable.
///   kScalesOwn      a multiplier is the own entry times the predecessor's inverse pivot, and replaces that entry
///   kScalesUpdates  a multiplier is the predecessor's entry at `meeting` times its inverse pivot
///   kNormalises     a finished vector divides what follows its diagonal by the pivot; multipliers are own entries
///   offsets, index, diagonal(v); predecessors t in [first(v), last(v)): vector(t), meeting(t, v's own entry t where
///   kScalesUpdates is false), updates(t) the first entry of the predecessor that takes part
#pragma once

#include "backends/cuda/seam.cuh"
#include "kernels/sptrsv/schedules/ata/launcher.hpp"

namespace taskdag::kernels::ata {

/// What changes from factorisation to factorisation; in device memory, as SolveCall.
struct FactorCall {
  const double* values;
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
  const Offset* source;  ///< entry → entry of the values; null: same
  double* entry;         ///< slots, per entry
  double* inverse;       ///< slots, per vector: inverse pivots
  double* work;          ///< per entry, for vectors longer than kStagedEntries; null if there is none

  /// The vector being worked on.
  struct Vector {
    const Index* index;
    double* value;
    Offset begin;
    Index size;
    /// Place of an index in the vector, −1 where it has none.
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

  /// Positions of one predecessor, known without its values.
  struct Update {
    Index vector = -1;
    Offset meeting = 0;
    Offset entry = 0;  // the lane's first, `end` or more: none
    Offset end = 0;
    Index target = -1;  // place of that entry in the own vector
  };

  template <bool Tracked>
  __device__ static double take(const double* slots, Index i) {
    if constexpr (Tracked) {
      return cuda::Slots{const_cast<double*>(slots)}.wait(i);
    } else {
      return slots[i];
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
    const Vector own{staged ? staged_index[warp] : elimination.index + begin,
                     staged ? staged_value[warp] : work + begin, begin, size};
    const double* const values = call->values;
    for (Index k = lane; k < size; k += cuda::kWarpSize) {
      if (staged) staged_index[warp][k] = elimination.index[begin + k];
      own.value[k] = values[source ? source[begin + k] : begin + k];
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
        if (first + b < last) apply<Tracked>(own, update[b], lane);
      }
    }
    publish(own, v, lane);
    __syncwarp();  // the staging is the next task's
  }

 private:
  __device__ Update look(const Vector& own, Offset t, int lane) const {
    Update update;
    update.vector = elimination.vector(t);
    update.meeting = elimination.meeting(t);
    update.entry = elimination.updates(t, update.vector) + lane;
    update.end = elimination.offsets[update.vector + 1];
    if (update.entry < update.end) update.target = own.find(elimination.index[update.entry]);
    return update;
  }

  /// Reached by the whole warp with the same predecessor.
  template <bool Tracked>
  __device__ void apply(const Vector& own, const Update& update, int lane) const {
    double multiplier;
    if constexpr (Elimination::kScalesUpdates) {
      multiplier = take<Tracked>(entry, update.meeting) * take<Tracked>(inverse, update.vector);
    } else {
      multiplier = own.value[update.meeting - own.begin];
      // As the reference: a multiplier of exactly zero skips its vector.
      if (multiplier == 0.0) return;
      if constexpr (Elimination::kScalesOwn) multiplier *= take<Tracked>(inverse, update.vector);
    }
    if (update.target >= 0) own.value[update.target] -= multiplier * take<Tracked>(entry, update.entry);
    for (Offset e = update.entry + cuda::kWarpSize; e < update.end; e += cuda::kWarpSize) {
      const Index target = own.find(elimination.index[e]);
      if (target >= 0) own.value[target] -= multiplier * take<Tracked>(entry, e);
    }
    if constexpr (Elimination::kScalesOwn) {
      __syncwarp();  // everybody has read the entry that is replaced
      if (lane == 0) own.value[update.meeting - own.begin] = multiplier;
    }
    __syncwarp();
  }

  __device__ void publish(const Vector& own, Index v, int lane) const {
    const Index diagonal = elimination.diagonal(v) - own.begin;
    const double pivot = own.value[diagonal];
    if constexpr (Elimination::kScalesOwn || Elimination::kScalesUpdates) {
      if (lane == 0) cuda::Slots{inverse}.publish(v, 1.0 / pivot);
    }
    for (Index k = lane; k < own.size; k += cuda::kWarpSize) {
      const bool normalise = Elimination::kNormalises && k > diagonal;
      cuda::Slots{entry}.publish(own.begin + k, normalise ? own.value[k] / pivot : own.value[k]);
    }
  }
};

}  // namespace taskdag::kernels::ata
