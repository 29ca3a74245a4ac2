/// \file
/// Pencils of a grid of seven points, or of 27 with one unknown or three: the sweep.
///
/// Of seven: a *pencil* is 31 lines of 4 planes. Each plane has a warp, its compute warp, with a lane a line: at step t
/// lane l computes column t − l, so that the row before is in its own register and the row a line before in that of the
/// lane before it, a shuffle away. Lane 0 has no line and passes on the last line of the pencil before. The row a plane
/// before comes from the compute warp below, a step or more ahead. Of 27: 30 lines of 2 planes, shifted by a line from
/// plane to plane, column t − 2 l, and lanes 0 and 1 pass on lines; with three unknowns a point, three lanes a line, 8
/// lines of a plane (compute_warp_of_27.cuh). In the block that holds the pencil warps have roles:
/// - The *compute warps* take starts (scaled right-hand sides) from a ring in shared memory and leave results there.
///   Each hands its results to the compute warp above; the last one hands them to the next slab's pencil by way of the
///   device's memory, by which the last lanes hand theirs to the next pencil of the slab, too.
/// - The *loader* streams the entries in by bulk copies.
/// - The *movers* write results out, line by line, and put starts in their slots.
/// - The *fetchers* bring what other pencils hand on.
///
/// Rows stay in their order: right-hand sides and results are read and written as they lie.
///
/// Sources: as of bands (bands/sweep.hpp), whose form in space this is.
#pragma once

#include <memory>

#include "kernels/sptrsv/schedules/cells/cut/pencils.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels::cells {

/// Makes the sweep. Synchronises `stream`. @throws DeviceError on a device that cannot run it
template <class Points>
std::unique_ptr<Sweep> make_pencils_sweep(const SweepInput& input, const Pencils<Points>& pencils, cudaStream_t stream);

}  // namespace taskdag::kernels::cells
