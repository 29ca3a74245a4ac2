#include <cub/device/device_reduce.cuh>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/reduce.hpp"

namespace taskdag::cuda {

Index largest(const Index* in, std::int64_t n, cudaStream_t stream) {
  const ScratchArray<Index> result(1, stream);
  with_scratch([&](void* scratch,
                   std::size_t& bytes) { return cub::DeviceReduce::Max(scratch, bytes, in, result.data(), n, stream); },
               stream);
  return fetch(result.data(), stream);
}

}  // namespace taskdag::cuda
