/// \file
/// Rows in the direction of a sweep.
#pragma once

#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// Numbers rows in the direction of the sweep; its own inverse.
struct SweepOrder {
  Index rows;
  bool lower;
  [[nodiscard]] __host__ __device__ Index operator()(Index row) const { return lower ? row : rows - 1 - row; }
};

}  // namespace taskdag::kernels
