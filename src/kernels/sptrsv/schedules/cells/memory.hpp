/// \file
/// How much device memory cells take, about.
#pragma once

#include <algorithm>

#include "kernels/sptrsv/schedules/cells/layout.hpp"

namespace taskdag::kernels::cells {

/// What steps take whose rows have `inside` entries each for the compute warp, with `outside` entries for fetchers:
/// targets, two sets of slots, numbers; pair rows and the sources of their values; a fetcher's lane for each outside
/// entry at most.
inline double bytes_of(double steps, double inside, double outside) {
  constexpr double kPositionBytes = sizeof(Target) + 2 * sizeof(double) + 2 * sizeof(Index);
  constexpr double kOutsideBytes = sizeof(double) + 3 * sizeof(Index) + sizeof(OutsideRow);
  const double pair_rows = std::max(1.0, inside / 2);
  return steps * (kLanes * kPositionBytes + pair_rows * (kPairRowBytes + kPairRowValues * sizeof(Offset))) +
         outside * kOutsideBytes;
}

}  // namespace taskdag::kernels::cells
