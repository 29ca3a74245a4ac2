/// \file
/// The schedule "cells": runs of consecutive rows, tiles of a structured grid's lines, bands of a grid of five points
/// (bands/sweep.hpp) or pencils of a grid of seven or 27 (pencils/sweep.hpp), one thread block each, in static steps.
/// Of runs and tiles:
///
/// *Cells* are numbered such that they wait for earlier ones only. Inside a cell the rows are sorted by level and cut
/// into *steps* of up to 32 rows of one level. In the block that holds the cell warps have roles:
/// - The *compute warp* walks the steps, a lane a row. It reads operands of the last kHistory steps from a ring in
///   shared memory, and nothing else that others write while it runs.
/// - The *fetchers*, many warps, compute what the compute warp starts a row from where entries have operands in other
///   cells or too far back: the scaled right-hand side less those entries. They wait for the operands (value hand-over,
///   seam.cuh).
/// - The *feeders*, some warps, give the compute warp the scaled right-hand sides of all other rows, and write results
///   out.
/// - The *loader*, one warp, streams the compute warp's entries in by bulk copies.
///
/// So a hop between rows of a cell costs a trip through shared memory, and most hops are such.
///
/// Sources: blocks of consecutive rows as coarse tasks: Saltz 1990; supersteps of cells with barriers: Böhnlein et al.
/// 2025; tasks of a cell that wait only where it is needed: Helal et al. 2019 (ATA). The division of labour in a block
/// is ours.
#pragma once

#include <memory>

#include "kernels/sptrsv/schedules/cells/cut/cut.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels {

/// Nothing given: chosen from the pattern (cut/cost.hpp).
struct CellsOptions {
  int cells = 0;            ///< so many runs of rows
  cells::TileShape tile{};  ///< or tiles of this shape
  int ways = 1;             ///< lanes of a row of such runs or tiles: 1, 2, 4
};

/// Whether the current device can run cells: compute capability 9.0 or newer, code for it in this library, and enough
/// shared memory for a block.
bool cells_supported();

/// Makes the sweep. Synchronises `stream`. @throws DeviceError on a device that cannot run it, Unsupported where 32-bit
/// positions do not suffice, where tiles are asked for and rows are not numbered by lines, or where values are to be in
/// single precision and there are neither bands nor pencils
std::unique_ptr<Sweep> make_cells_sweep(const SweepInput& input, const CellsOptions& options, cudaStream_t stream);

/// The same, of cells that are known already.
std::unique_ptr<Sweep> make_sweep_of_cells(const SweepInput& input, const cells::Cut& cut, cudaStream_t stream);

}  // namespace taskdag::kernels
