/// \file
/// The kernel of bands that finds inverse pivots.
#include "kernels/sptrsv/schedules/cells/bands/kernel.cuh"

namespace taskdag::kernels::cells {

BandKernel<double> kernel_of_band_reciprocals() { return solve_bands<double, true>; }

}  // namespace taskdag::kernels::cells
