/// \file
/// The largest absolute value of doubles on the device, by a kernel of our own.
#include <algorithm>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "backends/cuda/reduce.hpp"

namespace taskdag::cuda {
namespace {

/// Sizes of doubles are ordered as their bits, NaNs above all numbers.
__global__ void largest_size_kernel(const double* in, std::int64_t n, unsigned long long* result) {
  unsigned long long mine = 0;
  for (std::int64_t i = element(); i < n; i += std::int64_t{gridDim.x} * blockDim.x)
    mine = max(mine, static_cast<unsigned long long>(__double_as_longlong(fabs(in[i]))));
  for (int step = 16; step > 0; step /= 2) mine = max(mine, __shfl_xor_sync(~0U, mine, step));
  if (threadIdx.x % 32 == 0) atomicMax(result, mine);
}

}  // namespace

// CUB's reduction of doubles takes 0.35 ms to be loaded, which the first set-up of a process would wait for.
double largest_size(const double* in, std::int64_t n, cudaStream_t stream) {
  const ScratchArray<double> result(1, stream);
  check(cudaMemsetAsync(result.data(), 0, sizeof(double), stream), "resetting a number");
  const int blocks = std::min(element_blocks(n), 4 * device_limits().multiprocessors);
  largest_size_kernel<<<blocks, kElementBlock, 0, stream>>>(in, n,
                                                            reinterpret_cast<unsigned long long*>(result.data()));
  check_launch("largest_size_kernel");
  return fetch(result.data(), stream);
}

}  // namespace taskdag::cuda
