#include "backends/cuda/algorithm.cuh"
#include "count_differences.hpp"

namespace taskdag::benchmark {
namespace {

__global__ void count_kernel(std::int64_t size, const double* x, const double* y, unsigned long long* count) {
  const std::int64_t i = cuda::element();
  if (i >= size) return;
  const bool both_nan = isnan(x[i]) && isnan(y[i]);
  if (!both_nan && __double_as_longlong(x[i]) != __double_as_longlong(y[i])) atomicAdd(count, 1ULL);
}

}  // namespace

void count_differences(std::size_t size, const double* x, const double* y, unsigned long long* count) {
  if (size == 0) return;
  const auto n = static_cast<std::int64_t>(size);
  count_kernel<<<cuda::element_blocks(n), cuda::kElementBlock>>>(n, x, y, count);
  cuda::check_launch("count_kernel");
}

}  // namespace taskdag::benchmark
