#include "kernels/sptrsv/schedules/cells/bands/kernel.cuh"

namespace taskdag::kernels::cells {

BandKernel kernel_of_sums() { return solve_bands<false>; }

std::size_t band_shared_bytes(const Bands& bands, bool mail) {
  return sizeof(BandShared) + (mail ? static_cast<std::size_t>(bands.columns) * sizeof(double) : 0);
}

}  // namespace taskdag::kernels::cells
