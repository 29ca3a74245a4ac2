#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/check.hpp"
#include "csr/narrow.hpp"

namespace taskdag::kernels {

namespace {

__global__ void narrow_kernel(std::int64_t n, const std::int64_t* from, std::int64_t most, Index* to, int* bad) {
  const std::int64_t k = cuda::element();
  if (k >= n) return;
  const std::int64_t index = from[k];
  if (index < 0 || index > most) *bad = 1;
  to[k] = static_cast<Index>(index);
}

}  // namespace

void narrow(std::int64_t n, const std::int64_t* from, std::int64_t most, Index* to, int* bad, cudaStream_t stream) {
  if (n == 0) return;
  narrow_kernel<<<cuda::element_blocks(n), cuda::kElementBlock, 0, stream>>>(n, from, most, to, bad);
  cuda::check_launch("narrow_kernel");
}

}  // namespace taskdag::kernels
