/// \file
/// The sum of indices on the device.
#include "backends/cuda/reduce.cuh"
#include "backends/cuda/reduce.hpp"

namespace taskdag::cuda {

Index sum(const Index* in, std::int64_t n, cudaStream_t stream) {
  return reduced<Index>(stream, [&](void* scratch, std::size_t& bytes, Index* result) {
    return cub::DeviceReduce::Sum(scratch, bytes, in, result, n, stream);
  });
}

}  // namespace taskdag::cuda
