/// \file
/// The kernel of bands that solves, values in single precision.
#include "kernels/sptrsv/schedules/cells/bands/kernel.cuh"

namespace taskdag::kernels::cells {

template BandKernel<float> kernel_of_sums();
template std::size_t band_shared_bytes<float>(const Bands&, bool);

}  // namespace taskdag::kernels::cells
