/// \file
/// How many lanes of a warp share a row.
#pragma once

#include "base/macros.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

inline constexpr unsigned kMostLog2Lanes = 5;  ///< a warp

/// Of the fewest lanes (1, 2, 4, … 32) with which none has more than `per_lane` of a row's entries, or of 32.
[[nodiscard]] TASKDAG_HD unsigned log2_lanes_for(Index entries, int per_lane) {
  unsigned log2_lanes = 0;
  while (log2_lanes < kMostLog2Lanes && (per_lane << log2_lanes) < entries) ++log2_lanes;
  return log2_lanes;
}

}  // namespace taskdag::kernels
