/// \file
/// Where rows of a supernode meet each other.
#pragma once

#include "kernels/sptrsv/analysis/sweep_order.hpp"

namespace taskdag::kernels::supernodes {

/// The entry in which a row meets row `number` of its supernode: they lie beside the outer entries, which are
/// [first, first + count).
[[nodiscard]] __host__ __device__ inline Offset inner_entry(const SweepOrder& order, Offset first, Index count,
                                                            Index number) {
  return order.lower ? first + count + number : first - 1 - number;
}

}  // namespace taskdag::kernels::supernodes
