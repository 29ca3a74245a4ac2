#include "backends/cuda/device.hpp"
#include "backends/cuda/pool_use.hpp"
#include "kernels/ordering/seeds/aggregates_cuda.hpp"
#include "solver/aggregation_impl.hpp"
#include "solver/cuda/input.hpp"

namespace taskdag::cuda {

Aggregation aggregate_rows(const Context& context, const CsrPattern& pattern, MemorySpace space, int distance,
                           Stream stream) {
  const DeviceGuard guard(context.device());
  const PoolKeeps keeps;
  const cudaStream_t s = native(stream);
  const CudaPatternInput input(pattern, space, s);
  const kernels::DeviceGraph graph = kernels::symmetrised_graph(input.pattern(), s);
  return kernels::aggregate_around_seeds(graph, distance, s);
}

}  // namespace taskdag::cuda
