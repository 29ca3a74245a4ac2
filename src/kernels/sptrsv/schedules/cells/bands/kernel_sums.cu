#include "kernels/sptrsv/schedules/cells/bands/kernel.cuh"

namespace taskdag::kernels::cells {

template <>
BandKernel<double> kernel_of_sums() {
  return solve_bands<double, false>;
}

template <>
std::size_t band_shared_bytes<double>(const Bands& bands, bool mail) {
  return sizeof(BandShared<double>) + (mail ? static_cast<std::size_t>(bands.columns) * sizeof(double) : 0);
}

}  // namespace taskdag::kernels::cells
