/// \file
/// The largest of indices on the device.
#include "backends/cuda/reduce.cuh"
#include "backends/cuda/reduce.hpp"

namespace taskdag::cuda {

Index largest(const Index* in, std::int64_t n, cudaStream_t stream) { return largest_of(in, n, stream); }

}  // namespace taskdag::cuda
