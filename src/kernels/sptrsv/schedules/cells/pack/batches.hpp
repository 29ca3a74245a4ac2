/// \file
/// Batches: which outside rows a warp of the fetchers takes at once, and on which of its lanes.
///
/// An outside row has the fewest lanes (1, 2, 4, … 32) with which none holds more than kHeld of its entries, whatever
/// its neighbours have. A batch takes consecutive outside rows of a cell, by position, as long as their lanes suffice:
/// outside rows of a batch may wait for each other, but never for a later batch. Inside it those with more lanes come
/// first, so each begins at a multiple of its lanes.
#pragma once

#include "kernels/sptrsv/schedules/cells/layout.hpp"

namespace taskdag::kernels::cells {

/// A batch begins with each of a cell's outside rows whose number is a multiple of this, so that several warps can cut
/// a cell's outside rows into batches.
inline constexpr int kOutsideRowsCutAtOnce = 1024;

/// How many of the `outside_rows`, the first ones, fit into one batch; at least 1.
[[nodiscard]] TASKDAG_HD int outside_rows_that_fit(const std::uint8_t* log2_lanes, Index outside_rows) {
  int fit = 0;
  for (int lanes = 0; fit < outside_rows; ++fit) {
    lanes += 1 << log2_lanes[fit];
    if (lanes > kLanes) break;
  }
  return fit;
}

/// The first lane of outside row `own` of a batch that has so many.
[[nodiscard]] TASKDAG_HD int first_lane_of(const std::uint8_t* log2_lanes, int outside_rows, int own) {
  int lane = 0;
  for (int e = 0; e < outside_rows; ++e) {
    const bool before = log2_lanes[e] > log2_lanes[own] || (log2_lanes[e] == log2_lanes[own] && e < own);
    if (before) lane += 1 << log2_lanes[e];
  }
  return lane;
}

/// Cuts the outside rows of all cells into batches: `batch`, `outside_row`, `outside_row_at`, the cells' batches, and
/// the numbers of batches and outside rows. outside: entries for the fetchers by position. Synchronises `stream`.
void make_batches(Layout& layout, const Index* outside, cudaStream_t stream);

}  // namespace taskdag::kernels::cells
