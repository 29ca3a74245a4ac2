/// \file
/// The kernel of pencils of seven points that solves, values in single precision.
#include "kernels/sptrsv/schedules/cells/pencils/kernel.cuh"

namespace taskdag::kernels::cells {

template <>
PencilKernel<InSingle<SevenPoints>> kernel_of_pencils() {
  return solve_pencils<PencilComputeWarp<InSingle<SevenPoints>, false>>;
}
template std::size_t pencil_shared_bytes<InSingle<SevenPoints>>();

}  // namespace taskdag::kernels::cells
