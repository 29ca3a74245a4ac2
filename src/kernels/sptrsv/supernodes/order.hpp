/// \file
/// Rows in the direction of a sweep.
#pragma once

#include "taskdag/csr.hpp"

namespace taskdag::kernels::supernodes {

/// Numbers rows in the direction of the sweep; its own inverse.
struct SweepOrder {
  Index rows;
  bool lower;
  [[nodiscard]] __host__ __device__ Index operator()(Index row) const { return lower ? row : rows - 1 - row; }
};

/// Place of the entry in which a row meets row `place` of its supernode: they lie beside the outer entries, which are
/// [first, first + count).
[[nodiscard]] __host__ __device__ inline Offset inner_entry(const SweepOrder& order, Offset first, Index count,
                                                            Index place) {
  return order.lower ? first + count + place : first - 1 - place;
}

}  // namespace taskdag::kernels::supernodes
