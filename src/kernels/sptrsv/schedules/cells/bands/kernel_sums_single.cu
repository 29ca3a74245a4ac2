#include "kernels/sptrsv/schedules/cells/bands/kernel.cuh"

namespace taskdag::kernels::cells {

template <>
BandKernel<float> kernel_of_sums() {
  return solve_bands<float, false>;
}

template <>
std::size_t band_shared_bytes<float>(const Bands& bands, bool mail) {
  return sizeof(BandShared<float>) + (mail ? static_cast<std::size_t>(bands.columns) * sizeof(double) : 0);
}

}  // namespace taskdag::kernels::cells
