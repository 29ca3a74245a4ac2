/// \file
/// The kernel of bands that solves, in double precision.
#include "kernels/sptrsv/schedules/cells/bands/kernel.cuh"

namespace taskdag::kernels::cells {

template BandKernel<double> kernel_of_sums();
template std::size_t band_shared_bytes<double>(const Bands&, bool);

}  // namespace taskdag::kernels::cells
