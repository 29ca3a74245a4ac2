#include "backends/cuda/device.hpp"
#include "base/index.hpp"
#include "kernels/jacobi/dominance_cuda.hpp"
#include "solver/cuda/input.hpp"
#include "solver/dominance_impl.hpp"

namespace taskdag::cuda {

DiagonalDominance diagonal_dominance(const Context& context, const CsrView& a, MemorySpace space,
                                     const DominanceLimits& limits, Stream stream) {
  const DeviceGuard guard(context.device());
  const cudaStream_t s = native(stream);
  const CudaPatternInput input(a.pattern, space, s);
  if (space == MemorySpace::device) return kernels::cuda_dominance(input.pattern(), a.values, limits, s);
  const ScratchArray<double> values(at(input.pattern().entries), s);
  copy_to_device(values.data(), a.values, values.size(), s);
  return kernels::cuda_dominance(input.pattern(), values.data(), limits, s);
}

}  // namespace taskdag::cuda
