/// \file
/// The kernel of pencils of 27 points, values in single precision.
#include "kernels/sptrsv/schedules/cells/pencils/compute_warp_of_27.cuh"
#include "kernels/sptrsv/schedules/cells/pencils/kernel.cuh"

namespace taskdag::kernels::cells {

template <>
PencilKernel<InSingle<TwentySevenPoints>> kernel_of_pencils() {
  return solve_pencils<ComputeWarpOf27<InSingle<TwentySevenPoints>>>;
}
template std::size_t pencil_shared_bytes<InSingle<TwentySevenPoints>>();

}  // namespace taskdag::kernels::cells
