/// \file
/// The kernel of pencils of 27 points, in double precision.
#include "kernels/sptrsv/schedules/cells/pencils/compute_warp_of_27.cuh"
#include "kernels/sptrsv/schedules/cells/pencils/kernel.cuh"

namespace taskdag::kernels::cells {

template <>
PencilKernel<TwentySevenPoints> kernel_of_pencils() {
  return solve_pencils<ComputeWarpOf27<TwentySevenPoints>>;
}
template std::size_t pencil_shared_bytes<TwentySevenPoints>();

}  // namespace taskdag::kernels::cells
