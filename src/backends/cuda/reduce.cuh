/// \file
/// What a whole array in device memory comes to.
#pragma once

#include <cub/device/device_reduce.cuh>

#include "backends/cuda/algorithm.cuh"

namespace taskdag::cuda {

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
