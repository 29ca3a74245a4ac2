#include "backends/cuda/device.hpp"
#include "base/index.hpp"
#include "kernels/jacobi/dominance_cuda.hpp"
#include "kernels/jacobi/settling_cuda.hpp"
#include "kernels/jacobi/symmetry_cuda.hpp"
#include "solver/cuda/input.hpp"
#include "solver/dominance_impl.hpp"

namespace taskdag::cuda {

namespace {

/// Calls work(values) with those of `a` in device memory.
template <class Work>
auto with_values(const CsrView& a, std::size_t count, MemorySpace space, cudaStream_t s, const Work& work) {
  if (space == MemorySpace::device) return work(a.values);
  const ScratchArray<double> values(count, s);
  copy_to_device(values.data(), a.values, count, s);
  return work(static_cast<const double*>(values.data()));
}

}  // namespace

DiagonalDominance diagonal_dominance(const Context& context, const CsrView& a, MemorySpace space,
                                     const DominanceLimits& limits, Stream stream) {
  const DeviceGuard guard(context.device());
  const cudaStream_t s = native(stream);
  const CudaPatternInput input(a.pattern, space, s);
  return with_values(a, at(input.pattern().entries), space, s,
                     [&](const double* values) { return kernels::cuda_dominance(input.pattern(), values, limits, s); });
}

double settling(const Context& context, const CsrView& a, MemorySpace space, Stream stream) {
  const DeviceGuard guard(context.device());
  const cudaStream_t s = native(stream);
  const CudaPatternInput input(a.pattern, space, s);
  return with_values(a, at(input.pattern().entries), space, s,
                     [&](const double* values) { return kernels::cuda_settling(input.pattern(), values, s); });
}

bool symmetric(const Context& context, const CsrView& a, MemorySpace space, Stream stream) {
  const DeviceGuard guard(context.device());
  const cudaStream_t s = native(stream);
  const CudaPatternInput input(a.pattern, space, s);
  return with_values(a, at(input.pattern().entries), space, s,
                     [&](const double* values) { return kernels::cuda_symmetric(input.pattern(), values, s); });
}

}  // namespace taskdag::cuda
