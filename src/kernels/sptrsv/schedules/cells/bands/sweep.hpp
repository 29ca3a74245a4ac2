/// \file
/// Bands of a grid of five points: the sweep.
///
/// A *band* is 32 lines. One warp, the compute warp, has a lane a line: at step t lane l computes column t − l, so that
/// the row before is in its own register and the row a line before in that of the lane before it, a shuffle away. A
/// step costs a shuffle and two multiplications, whatever lies around it in memory. In the block that holds the band
/// warps have roles:
/// - The *compute warp* takes starts (scaled right-hand sides) from a ring in shared memory and leaves results there.
///   It hands those of the last line to the next band: into the shared memory of its block where that is in the same
///   cluster of blocks, else by way of the device's memory.
/// - The *loader* streams the entries in by bulk copies.
/// - The *feeders* make starts of right-hand sides, line by line.
/// - The *fetchers* make those of the first line, which waits for the band before.
/// - The *storers* write results out, line by line, and free slots of the ring.
///
/// Rows stay in their order: right-hand sides and results are read and written as they lie.
///
/// Sources: a step for all points of a hyperplane is Lamport 1974; a processor a line, and values that move on to the
/// next processor, are systolic (Kung & Leiserson 1978). The division of labour is ours.
#pragma once

#include <memory>

#include "kernels/sptrsv/schedules/cells/cut/bands.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels::cells {

/// Makes the sweep. Synchronises `stream`. most_blocks: of a cluster, for tests; as many bands hand values on through
/// shared memory. @throws DeviceError on a device that cannot run it
std::unique_ptr<Sweep> make_bands_sweep(const SweepInput& input, const Bands& bands, cudaStream_t stream,
                                        int most_blocks = 8);

}  // namespace taskdag::kernels::cells
