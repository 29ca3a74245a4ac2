/// \file
/// The kernel of cells that has four lanes for a row.
#include "kernels/sptrsv/schedules/cells/run/kernel.cuh"

namespace taskdag::kernels::cells {

SolveKernel kernel_of_four_lanes() { return kernel_for<StepKind<4, false>>(); }

}  // namespace taskdag::kernels::cells
