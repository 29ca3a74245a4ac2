/// \file
/// How many cells, and how long a solve will take with them: a model of what was measured, cheap to evaluate.
#pragma once

#include "kernels/sptrsv/schedules/cells/cut/cut.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels::cells {

struct Estimate {
  Cut cut;
  double microseconds = 0.0;
  double bytes = 0.0;  ///< of device memory that the sweep will hold, about
};

/// The fastest cut by the model: runs of rows, as many as the device has multiprocessors or fewer; tiles, where rows
/// are numbered by lines and planes; bands on grids of five points; pencils on grids of seven and of 27. Synchronises
/// `stream`.
///
/// Rows of runs are sorted by their usual levels, or by those counted from the end (late.hpp) where that is expected to
/// be faster. The time of tiles is simulated (tiling.hpp); that of runs is
/// T = kStart + steps · (kStep + kEntry · entries the compute warp multiplies per row) + hops · kHop + entries of a
/// cell that are fetched · kFetch, each by the device's rate, where steps counts, level by level, those of the cell
/// that has most of them: cells go through the levels side by side, and hops is the most that a chain of dependencies
/// takes from cell to cell (hops.hpp). docs/notes/cells.md has the measurements behind the constants.
Estimate estimate(const SweepInput& input, cudaStream_t stream);

}  // namespace taskdag::kernels::cells
