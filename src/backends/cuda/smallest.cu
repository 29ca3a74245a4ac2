#include <cub/device/device_reduce.cuh>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/reduce.hpp"

namespace taskdag::cuda {

double smallest(const double* in, std::int64_t n, cudaStream_t stream) {
  const ScratchArray<double> result(1, stream);
  with_scratch([&](void* scratch,
                   std::size_t& bytes) { return cub::DeviceReduce::Min(scratch, bytes, in, result.data(), n, stream); },
               stream);
  return fetch(result.data(), stream);
}

}  // namespace taskdag::cuda
