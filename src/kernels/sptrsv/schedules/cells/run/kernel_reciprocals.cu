/// \file
/// The kernel of cells that finds inverse pivots.
#include "kernels/sptrsv/schedules/cells/run/kernel.cuh"

namespace taskdag::kernels::cells {

SolveKernel kernel_of_reciprocals() { return kernel_for<StepKind<1, true>>(); }

}  // namespace taskdag::kernels::cells
