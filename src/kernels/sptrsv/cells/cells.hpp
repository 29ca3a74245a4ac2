/// \file
/// The schedule "cells": runs of consecutive rows, one thread block each, in static steps.
///
/// A *cell* is a run of consecutive rows of the sweep, so cells wait for earlier cells only. Inside a cell the rows are
/// sorted by level and cut into *steps* of up to 32 rows of one level. In the block that holds the cell
///   the *runner*, one warp, walks the steps, a lane a row; it reads operands of the last kHistory steps from a ring in
///     shared memory, and nothing else that anybody writes while it runs;
///   the *feeders*, many warps, compute what the runner starts a row from: the scaled right-hand side less the entries
///     whose operands lie in other cells or too far back, for which they wait (value hand-over, seam.cuh);
///   the *loader*, one warp, streams the runner's entries in by bulk copies.
/// So a hop between rows of a cell costs a trip through shared memory, and most hops are such.
///
/// Sources: blocks of consecutive rows as coarse tasks: Saltz 1990; supersteps of cells with barriers: Böhnlein et al.
/// 2025; tasks of a cell that wait only where it is needed: Helal et al. 2019 (ATA). The division of labour in a block
/// is ours.
#pragma once

#include <memory>

#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels {

struct CellsOptions {
  int cells = 0;  ///< how many; 0: chosen from the pattern (estimate.hpp)
};

/// What was planned, for views and benchmarks.
struct CellsInfo {
  int cells = 0;
  Index steps = 0;         ///< in all cells
  Index longest_cell = 0;  ///< steps of the cell with most
  Offset inside = 0;       ///< entries that the runner multiplies
  Offset outside = 0;      ///< entries that feeders wait for
};

/// Whether the current device can run cells: compute capability 9.0 or newer.
bool cells_supported();

/// Makes the sweep. Synchronises `stream`. @throws DeviceError on an older device
std::unique_ptr<Sweep> make_cells_sweep(const SweepInput& input, const CellsOptions& options, cudaStream_t stream);

}  // namespace taskdag::kernels
