/// \file
/// The kernel of pencils of seven points that finds inverse pivots.
#include "kernels/sptrsv/schedules/cells/pencils/kernel.cuh"

namespace taskdag::kernels::cells {

PencilKernel<SevenPoints> kernel_of_pencil_reciprocals() { return solve_pencils<PencilComputeWarp<SevenPoints, true>>; }

}  // namespace taskdag::kernels::cells
