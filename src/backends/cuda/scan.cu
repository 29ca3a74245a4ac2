#include "backends/cuda/scan.cuh"
#include "backends/cuda/scan.hpp"

namespace taskdag::cuda {

// Sums of unsigned numbers have the bits of signed ones.

void exclusive_sum(const std::uint32_t* in, std::uint32_t* sum, std::int64_t n, cudaStream_t stream) {
  exclusive_sum_over(in, sum, n, stream);
}

void exclusive_sum(const Index* in, Index* sum, std::int64_t n, cudaStream_t stream) {
  exclusive_sum(reinterpret_cast<const std::uint32_t*>(in), reinterpret_cast<std::uint32_t*>(sum), n, stream);
}

void inclusive_sum(const Index* in, Index* sum, std::int64_t n, cudaStream_t stream) {
  inclusive_sum_over(in, sum, n, stream);
}

}  // namespace taskdag::cuda
