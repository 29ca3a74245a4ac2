/// \file
/// Which entries of pivot rows meet entries of a row: the search that the lists are made by.
#pragma once

#include "backends/cuda/seam.cuh"
#include "csr/pattern.hpp"

namespace taskdag::kernels {

/// ILU(0): pivot row t of row i is that of entry t of the row. Its entries right of its diagonal update row i.
struct Ilu0Pattern {
  DevicePattern pattern;
  const Offset* diagonals;
  bool diagonal_only;  ///< FactorOptions::diagonal_only
  static constexpr bool kMultipliersAreTargets = true;

  __device__ Offset first_pivot(Index i) const { return pattern.row_offsets[i]; }
  __device__ Index pivot_count(Index i) const { return diagonal(i); }
  __device__ Index pivot_row(Offset t) const { return pattern.col_indices[t]; }
  __device__ Offset first_entry(Offset t) const { return diagonals[pivot_row(t)] + 1; }
  __device__ Offset last_entry(Offset t) const { return pattern.row_offsets[pivot_row(t) + 1]; }
  __device__ Index diagonal(Index i) const { return diagonals[i] - pattern.row_offsets[i]; }
  __device__ Offset first_right(Index i) const { return diagonals[i] + 1; }
};

/// IC(0): the pivot rows of row i are the rows above that reach column i. Their entries from there on update row i.
struct Ic0Pattern {
  DevicePattern pattern;
  const Offset* above_offsets;
  const Index* above_rows;
  const Offset* above_entries;
  bool diagonal_only;
  static constexpr bool kMultipliersAreTargets = false;

  __device__ Offset first_pivot(Index i) const { return above_offsets[i]; }
  __device__ Index pivot_count(Index i) const { return above_offsets[i + 1] - above_offsets[i] - 1; }
  __device__ Index pivot_row(Offset t) const { return above_rows[t]; }
  __device__ Offset first_entry(Offset t) const { return above_entries[t]; }
  __device__ Offset last_entry(Offset t) const { return pattern.row_offsets[pivot_row(t) + 1]; }
  __device__ Index diagonal(Index) const { return 0; }
  __device__ Offset first_right(Index i) const { return pattern.row_offsets[i] + 1; }
};

/// Which entries of the row have those columns, or −1. Columns ascend. The bisections run side by side.
template <int Count>
__device__ void find_columns(const Index* columns, Index entries, const Index (&wanted)[Count], Index (&found)[Count]) {
#pragma unroll
  for (int k = 0; k < Count; ++k) found[k] = 0;
  for (Index length = entries; length > 1;) {
    const Index half = length / 2;
#pragma unroll
    for (int k = 0; k < Count; ++k) {
      if (columns[found[k] + half - 1] < wanted[k]) found[k] += half;
    }
    length -= half;
  }
#pragma unroll
  for (int k = 0; k < Count; ++k) found[k] = columns[found[k]] == wanted[k] ? found[k] : -1;
}

__device__ inline unsigned lanes_below(int lane) {
  return lane >= cuda::kWarpSize ? cuda::kFullWarp : (1U << lane) - 1;
}

/// Over the warp, in the order of the lanes.
__device__ inline int inclusive_sum(int value, int lane) {
  for (int distance = 1; distance < cuda::kWarpSize; distance *= 2) {
    const int other = __shfl_up_sync(cuda::kFullWarp, value, static_cast<unsigned>(distance));
    if (lane >= distance) value += other;
  }
  return value;
}

/// Entries of pivot rows that a warp looks up side by side: 32 times this.
inline constexpr int kLookups = 4;

/// The next pivot rows of a row, one a lane: as many as have 32 · kLookups entries together, at least one. The warp
/// goes through their entries side by side.
struct PivotBatch {
  Offset first = 0;  // entry of this lane's pivot row
  int before = 0;    // entries of the lanes before
  int through = 0;   // and of this lane
  int pivots = 0;
  int total = 0;  // entries of the batch

  /// pivot_at(k): pivot row k of the row's `count`. Reached by the whole warp, like all members.
  template <class Pattern, class PivotAt>
  __device__ PivotBatch(const Pattern& view, Index begin, Index count, const PivotAt& pivot_at, int lane) {
    const bool has_pivot = begin + lane < count;
    int length = 0;
    if (has_pivot) {
      const Offset pivot = pivot_at(begin + lane);
      first = view.first_entry(pivot);
      length = view.last_entry(pivot) - first;
    }
    through = inclusive_sum(length, lane);
    before = through - length;
    pivots = max(1, __popc(__ballot_sync(cuda::kFullWarp, has_pivot && through <= kLookups * cuda::kWarpSize)));
    total = __shfl_sync(cuda::kFullWarp, through, pivots - 1);
  }

  /// visit(base, owner, e, target) for all lanes, 32 entries of the batch from number `base` on at a time: entry e of
  /// the pivot row of lane `owner` meets entry `target` of the row, or none (−1).
  template <class Pattern, class Visit>
  __device__ void each(const Pattern& view, const Index* columns, Index entries, int lane, const Visit& visit) const {
    if (total <= cuda::kWarpSize) {
      each_of<1>(view, columns, entries, lane, visit);
    } else {
      each_of<kLookups>(view, columns, entries, lane, visit);
    }
  }
  template <int Count, class Pattern, class Visit>
  __device__ void each_of(const Pattern& view, const Index* columns, Index entries, int lane,
                          const Visit& visit) const {
    for (int base = 0; base < total; base += Count * cuda::kWarpSize) {
      int owner[Count];
      Offset e[Count];
      Index wanted[Count];
      Index target[Count];
#pragma unroll
      for (int k = 0; k < Count; ++k) {
        const int j = base + k * cuda::kWarpSize + lane;
        owner[k] = 0;
        for (int width = cuda::kWarpSize / 2; width > 0; width /= 2) {
          if (__shfl_sync(cuda::kFullWarp, through, owner[k] + width - 1) <= j) owner[k] += width;
        }
        e[k] = __shfl_sync(cuda::kFullWarp, first, owner[k]) + j - __shfl_sync(cuda::kFullWarp, before, owner[k]);
        wanted[k] = j < total ? view.pattern.col_indices[e[k]] : -1;
      }
      find_columns(columns, entries, wanted, target);
#pragma unroll
      for (int k = 0; k < Count; ++k) {
        if (base + k * cuda::kWarpSize < total) visit(base + k * cuda::kWarpSize, owner[k], e[k], target[k]);
      }
    }
  }

  /// Of the lanes in `chosen` in the visit at `base`, those that held entries of this lane's pivot row.
  __device__ unsigned mine(unsigned chosen, int base) const {
    const int from = min(max(before - base, 0), cuda::kWarpSize);
    const int to = min(max(through - base, 0), cuda::kWarpSize);
    return chosen & lanes_below(to) & ~lanes_below(from);
  }
};

}  // namespace taskdag::kernels
