/// \file
/// Where rows of a supernode meet each other.
#pragma once

#include "kernels/sptrsv/analysis/sweep_order.hpp"

namespace taskdag::kernels::supernodes {

/// Place of the entry in which a row meets row `place` of its supernode: they lie beside the outer entries, which are
/// [first, first + count).
[[nodiscard]] __host__ __device__ inline Offset inner_entry(const SweepOrder& order, Offset first, Index count,
                                                            Index place) {
  return order.lower ? first + count + place : first - 1 - place;
}

}  // namespace taskdag::kernels::supernodes
