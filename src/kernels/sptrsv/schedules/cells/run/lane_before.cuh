/// \file
/// A shuffle along the lanes of a warp.
#pragma once

#include "base/macros.hpp"

namespace taskdag::kernels::cells {

/// What lane l − 1 has; lane 0 gets its own.
__device__ inline double of_lane_before(double x) {
  double result;
  asm volatile(
      "{.reg .b32 low, high; mov.b64 {low, high}, %1; shfl.sync.up.b32 low, low, 1, 0, 0xffffffff; "
      "shfl.sync.up.b32 high, high, 1, 0, 0xffffffff; mov.b64 %0, {low, high};}"
      : "=d"(result)
      : "d"(x));
  return result;
}

}  // namespace taskdag::kernels::cells
