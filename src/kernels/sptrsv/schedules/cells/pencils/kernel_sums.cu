#include "kernels/sptrsv/schedules/cells/pencils/kernel.cuh"

namespace taskdag::kernels::cells {

PencilKernel kernel_of_pencils() { return solve_pencils<false>; }

std::size_t pencil_shared_bytes() { return sizeof(PencilShared); }

}  // namespace taskdag::kernels::cells
