/// \file
/// Rounds: which errands a warp of the fetchers takes at once, and on which of its lanes.
///
/// An errand has the fewest lanes (1, 2, 4, … 32) with which none holds more than kHeld of its entries, whatever its
/// neighbours have. A round takes consecutive errands of a cell, by position, as long as their lanes suffice: errands
/// of a round may wait for each other, but never for a later round. Inside it those with more lanes come first, so each
/// begins at a multiple of its lanes.
#pragma once

#include "kernels/sptrsv/schedules/cells/layout.hpp"

namespace taskdag::kernels::cells {

/// A round begins with each of a cell's errands whose number is a multiple of this, so that several warps can cut a
/// cell's errands into rounds.
inline constexpr int kErrandsCutAtOnce = 1024;

/// How many of the `errands` from the first one fit into a round that begins with it; at least 1.
[[nodiscard]] TASKDAG_HD int errands_that_fit(const std::uint8_t* log2_lanes, Index errands) {
  int fit = 0;
  for (int lanes = 0; fit < errands; ++fit) {
    lanes += 1 << log2_lanes[fit];
    if (lanes > kLanes) break;
  }
  return fit;
}

/// The first lane of errand `own` of a round that has so many.
[[nodiscard]] TASKDAG_HD int first_lane_of(const std::uint8_t* log2_lanes, int errands, int own) {
  int lane = 0;
  for (int e = 0; e < errands; ++e) {
    const bool before = log2_lanes[e] > log2_lanes[own] || (log2_lanes[e] == log2_lanes[own] && e < own);
    if (before) lane += 1 << log2_lanes[e];
  }
  return lane;
}

/// Cuts the errands of all cells into rounds: `round`, `errand`, `errand_at`, the cells' rounds, and the numbers of
/// rounds and outside rows. outside: entries for the fetchers by position. Synchronises `stream`.
void make_rounds(Layout& layout, const Index* outside, cudaStream_t stream);

}  // namespace taskdag::kernels::cells
