#include "kernels/sptrsv/schedules/cells/bands/kernel.cuh"

namespace taskdag::kernels::cells {

BandKernel kernel_of_band_reciprocals() { return solve_bands<true>; }

}  // namespace taskdag::kernels::cells
