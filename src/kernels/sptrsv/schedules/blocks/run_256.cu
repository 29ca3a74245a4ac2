/// \file
/// The kernels that run blocks with 256 threads.
#include "kernels/sptrsv/schedules/blocks/run_blocks_kernel.cuh"

namespace taskdag::kernels::supersteps {

template Kernel<PlainEnds> kernel_of<256, PlainEnds, double>(Index row_entries);

}  // namespace taskdag::kernels::supersteps
