#include "backends/cuda/device.hpp"
#include "kernels/ordering/colouring/block_order_cuda.hpp"
#include "kernels/sptrsv/analysis/levels.hpp"
#include "solver/block_ordering_impl.hpp"
#include "solver/cuda/input.hpp"

namespace taskdag::cuda {

BlockOrdering order_blocks(const Context& context, const CsrPattern& pattern, MemorySpace space, Index block_size,
                           Stream stream) {
  const DeviceGuard guard(context.device());
  const cudaStream_t s = native(stream);
  const CudaPatternInput input(pattern, space, s);
  const kernels::DeviceGraph graph = kernels::symmetrised_graph(input.pattern(), s);
  return block_size == 1 ? kernels::order_by_points(graph, s) : kernels::order_by_blocks(graph, block_size, s);
}

Index dependency_levels(const Context& context, const CsrPattern& pattern, MemorySpace space, Triangle triangle,
                        Stream stream, Index most) {
  const DeviceGuard guard(context.device());
  const cudaStream_t s = native(stream);
  const CudaPatternInput input(pattern, space, s);
  const kernels::TriangleRanges ranges = kernels::find_triangle(input.pattern(), triangle, s);
  return kernels::count_levels_up_to(input.pattern(), ranges, triangle, most, s);
}

}  // namespace taskdag::cuda
