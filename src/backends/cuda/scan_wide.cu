/// \file
/// Prefix sums of 64-bit integers on the device.
#include "backends/cuda/scan.cuh"
#include "backends/cuda/scan.hpp"

namespace taskdag::cuda {

void exclusive_sum(const std::int64_t* in, std::int64_t* sum, std::int64_t n, cudaStream_t stream) {
  exclusive_sum_over(in, sum, n, stream);
}

void inclusive_sum(const std::int64_t* in, std::int64_t* sum, std::int64_t n, cudaStream_t stream) {
  inclusive_sum_over(in, sum, n, stream);
}

}  // namespace taskdag::cuda
