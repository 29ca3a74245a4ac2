/// \file
/// Shuffles along the lanes of a warp.
#pragma once

#include "base/macros.hpp"

namespace taskdag::kernels::cells {

/// What lane l − kBy has; the first kBy lanes get their own.
template <int kBy = 1>
__device__ inline double of_lane_before(double x) {
  double result;
  asm volatile(
      "{.reg .b32 low, high; mov.b64 {low, high}, %1; shfl.sync.up.b32 low, low, %2, 0, 0xffffffff; "
      "shfl.sync.up.b32 high, high, %2, 0, 0xffffffff; mov.b64 %0, {low, high};}"
      : "=d"(result)
      : "d"(x), "n"(kBy));
  return result;
}
/// What lane `lane` has.
__device__ inline double of_lane(double x, int lane) {
  double result;
  asm volatile(
      "{.reg .b32 low, high; mov.b64 {low, high}, %1; shfl.sync.idx.b32 low, low, %2, 31, 0xffffffff; "
      "shfl.sync.idx.b32 high, high, %2, 31, 0xffffffff; mov.b64 %0, {low, high};}"
      : "=d"(result)
      : "d"(x), "r"(lane));
  return result;
}

}  // namespace taskdag::kernels::cells
