/// \file
/// The kernels that run blocks as a part of a product (Eisenstat's trick).
#include "kernels/sptrsv/schedules/blocks/run_blocks_kernel.cuh"

namespace taskdag::kernels::supersteps {

template Kernel<ProductEnds> kernel_of<128, ProductEnds, double>(Index row_entries);
template Kernel<ProductEnds> kernel_of<256, ProductEnds, double>(Index row_entries);
template Kernel<ProductEnds> kernel_of<512, ProductEnds, double>(Index row_entries);

}  // namespace taskdag::kernels::supersteps
