#include "kernels/sptrsv/schedules/cells/pencils/kernel.cuh"

namespace taskdag::kernels::cells {

PencilKernel kernel_of_pencil_reciprocals() { return solve_pencils<true>; }

}  // namespace taskdag::kernels::cells
