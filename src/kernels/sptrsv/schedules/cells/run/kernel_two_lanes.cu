/// \file
/// The kernel of cells that has two lanes for a row.
#include "kernels/sptrsv/schedules/cells/run/kernel.cuh"

namespace taskdag::kernels::cells {

SolveKernel kernel_of_two_lanes() { return kernel_for<StepKind<2, false>>(); }

}  // namespace taskdag::kernels::cells
