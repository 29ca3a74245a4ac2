/// \file
/// What the rows of a numeric elimination are given, and how they read it.
#pragma once

#include "backends/cuda/seam.cuh"
#include "kernels/factor/cuda/numeric.hpp"
#include "kernels/factor/cuda/reporter.cuh"

namespace taskdag::kernels::elimination {

using cuda::kFullWarp;
using cuda::kWarpSize;
using cuda::LaneGroup;
using cuda::Slots;
using cuda::TicketCounter;

struct Parameters {
  EliminationView lists;
  FactorInput input;
  PivotRule rule;
  Slots slots;
  double* next_slots;  // to be reset
  double* entries;
  double* inverse_pivots;
  Reporter reporter;
  TicketCounter tickets;

  /// What is there now.
  __device__ double peek(ValueReference v) const {
    if (v == kNoValue) return 0.0;
    const double* const from = v >= 0 ? slots.slot + v : input.values + ~v;
    return Slots{const_cast<double*>(from)}.peek(0);
  }
  /// The same where entries of the matrix are the rule: their cache lines serve more than one row.
  __device__ double peek_cached(ValueReference v) const {
    if (v == kNoValue) return 0.0;
    return v >= 0 ? slots.peek(v) : __ldg(input.values + ~v);
  }
  /// Only slots are waited for: an entry of the matrix may be any NaN.
  __device__ static bool missing(ValueReference v, double value) { return (v >= 0) & !is_ready(value); }
  __device__ void look_again(ValueReference v, double& value) const {
    if (missing(v, value)) value = slots.peek(v);
  }
};

/// A list element in 16-byte loads.
template <class T>
__device__ T load(const T* from) {
  static_assert(sizeof(T) % sizeof(int4) == 0);
  constexpr unsigned kWords = sizeof(T) / sizeof(int4);
  int4 raw[kWords];
#pragma unroll
  for (unsigned k = 0; k < kWords; ++k) raw[k] = __ldg(reinterpret_cast<const int4*>(from) + k);
  T result;
  memcpy(&result, raw, sizeof(T));
  return result;
}

__device__ inline double magnitude(double value) { return value < 0 ? -value : value; }

/// The multiplier of a pivot row. ilu: from the row's own entry; exactly zero stays so, whatever the pivot. ic: from
/// the pivot row's entry.
template <FactorKind Kind>
__device__ double multiplier(double own, double mirrored, double inverse) {
  if constexpr (Kind == FactorKind::ic) {
    return mirrored * inverse;
  } else {
    return own != 0.0 ? own * inverse : own;
  }
}

}  // namespace taskdag::kernels::elimination
