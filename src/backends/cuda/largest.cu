/// \file
/// The largest of doubles on the device.
#include "backends/cuda/reduce.cuh"
#include "backends/cuda/reduce.hpp"

namespace taskdag::cuda {

double largest(const double* in, std::int64_t n, cudaStream_t stream) { return largest_of(in, n, stream); }

}  // namespace taskdag::cuda
