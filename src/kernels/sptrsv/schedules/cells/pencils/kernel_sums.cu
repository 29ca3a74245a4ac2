/// \file
/// The kernel of pencils of seven points that solves, in double precision.
#include "kernels/sptrsv/schedules/cells/pencils/kernel.cuh"

namespace taskdag::kernels::cells {

template <>
PencilKernel<SevenPoints> kernel_of_pencils() {
  return solve_pencils<PencilComputeWarp<SevenPoints, false>>;
}
template std::size_t pencil_shared_bytes<SevenPoints>();

}  // namespace taskdag::kernels::cells
