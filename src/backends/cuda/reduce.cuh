/// \file
/// What a whole array in device memory comes to.
#pragma once

#include <cub/device/device_reduce.cuh>

#include "backends/cuda/algorithm.cuh"

namespace taskdag::cuda {

/// *most (device memory, not negative) = max(*most, value). To be reached by whole warps; values are not negative, a
/// NaN counts as more than all numbers.
__device__ inline void raise_to(double* most, double value) {
  constexpr unsigned kAll = 0xFFFFFFFFU;
  auto bits = static_cast<unsigned long long>(__double_as_longlong(value));  // ordered as the numbers are
  for (int offset = 16; offset > 0; offset /= 2) bits = max(bits, __shfl_xor_sync(kAll, bits, offset));
  auto* const word = reinterpret_cast<unsigned long long*>(most);
  if (threadIdx.x % 32 == 0 && bits > *word) atomicMax(word, bits);
}

/// The largest of in[0 … n), n >= 1. Synchronises `stream`.
template <class T, class Count>
T largest(const T* in, Count n, cudaStream_t stream) {
  const ScratchArray<T> result(1, stream);
  with_scratch([&](void* scratch,
                   std::size_t& bytes) { return cub::DeviceReduce::Max(scratch, bytes, in, result.data(), n, stream); },
               stream);
  return fetch(result.data(), stream);
}

}  // namespace taskdag::cuda
