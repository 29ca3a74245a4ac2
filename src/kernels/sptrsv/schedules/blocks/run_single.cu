/// \file
/// The kernels that run blocks with values in single precision.
#include "kernels/sptrsv/schedules/blocks/run_blocks_kernel.cuh"

namespace taskdag::kernels::supersteps {

template Kernel<PlainEnds> kernel_of<128, PlainEnds, float>(Index row_entries);
template Kernel<PlainEnds> kernel_of<256, PlainEnds, float>(Index row_entries);
template Kernel<PlainEnds> kernel_of<512, PlainEnds, float>(Index row_entries);

}  // namespace taskdag::kernels::supersteps
