/// \file
/// The kernel of cells that has one lane for a row.
#include "kernels/sptrsv/schedules/cells/run/kernel.cuh"

namespace taskdag::kernels::cells {

SolveKernel kernel_of_one_lane() { return kernel_for<StepKind<1, false>>(); }

}  // namespace taskdag::kernels::cells
