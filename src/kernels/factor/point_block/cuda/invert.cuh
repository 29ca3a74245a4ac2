/// \file
/// The inverse of a small block in the registers of a warp.
///
/// The steps of point_block::invert() (block.hpp), which works in memory: there each of them waits for what the one
/// before has stored, and a chain of rows waits for all of them (7,000 cycles for a block of three rows, most of a
/// row).
#pragma once

#include "backends/cuda/seam.cuh"
#include "kernels/factor/point_block/block.hpp"

namespace taskdag::kernels::point_block {

/// Largest block that is inverted so.
inline constexpr int kLargestInRegisters = 8;

/// The entry of the largest magnitude in column k, at or below row k, which is `row`.
struct PivotInRegisters {
  double value;
  int row;
};
template <int N>
__device__ __forceinline__ PivotInRegisters largest_from(int k, const double (&column)[N]) {
  PivotInRegisters pivot{column[k], k};
  double largest = column[k] < 0 ? -column[k] : column[k];
#pragma unroll
  for (int r = k + 1; r < N; ++r) {
    const double value = column[r] < 0 ? -column[r] : column[r];
    if (value > largest || value != value) {  // a NaN is no zero
      largest = value;
      pivot = {column[r], r};
    }
  }
  return pivot;
}

/// As invert(); a lane has a column, those behind the last one of the block nothing.
template <int N>
__device__ Inversion invert_in_registers(BlockSize<N> size, int lane, double* a, double amount) {
  static_assert(N <= kLargestInRegisters);
  constexpr unsigned kBits = 4;  // of a row of the block
  Inversion found;
  const double shift = amount > 0.0 ? pivot_shift(size, a, amount) : 0.0;
  double own[N];
#pragma unroll
  for (int r = 0; r < N; ++r) own[r] = lane < N ? a[lane * N + r] : 0.0;
  std::uint32_t pivot_rows = 0;
#pragma unroll
  for (int k = 0; k < N; ++k) {
    double column[N];  // k
#pragma unroll
    for (int r = 0; r < N; ++r) column[r] = __shfl_sync(cuda::kFullWarp, own[r], k);
    const PivotInRegisters found_pivot = largest_from(k, column);
    const int p = found_pivot.row;
    double pivot = found_pivot.value;
    if (pivot == 0.0) {
      if (amount > 0.0 && k + 1 < N) {
        pivot = shift;
        ++found.shifted;
      } else {
        if (found.first_zero < 0) found.first_zero = k;
        found.last_zero = k;
      }
    }
    found.finite = found.finite && is_finite(pivot);
    pivot_rows |= static_cast<std::uint32_t>(p) << (kBits * static_cast<unsigned>(k));
    const double inverse = 1.0 / pivot;
    double from = own[k];  // rows k and p are swapped
#pragma unroll
    for (int r = k + 1; r < N; ++r) {
      if (p != r) continue;
      from = own[r];
      own[r] = own[k];
      column[r] = column[k];
    }
    own[k] = lane == k ? inverse : from * inverse;
#pragma unroll
    for (int r = 0; r < N; ++r) {
      if (r == k) continue;
      own[r] = lane == k ? column[r] * -inverse : own[r] - column[r] * own[k];
    }
  }
#pragma unroll
  for (int k = N - 1; k >= 0; --k) {  // the exchanges, from the other side
    const auto p = static_cast<int>(pivot_rows >> (kBits * static_cast<unsigned>(k)) & ((1U << kBits) - 1U));
    if (p == k) continue;
    const int other = lane == k ? p : lane == p ? k : lane;
#pragma unroll
    for (int r = 0; r < N; ++r) own[r] = __shfl_sync(cuda::kFullWarp, own[r], other);
  }
#pragma unroll
  for (int r = 0; r < N; ++r) {
    if (lane < N) a[lane * N + r] = own[r];
  }
  __syncwarp();
  return found;
}

}  // namespace taskdag::kernels::point_block
