// Real blocks of complex values in device memory.
#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/memory.hpp"
#include "backends/cuda/stream.hpp"
#include "solver/cuda/input.hpp"
#include "solver/real_blocks_impl.hpp"

namespace taskdag::cuda {

namespace {

/// A thread a number; blocks stand column by column, and so do the real ones.
__global__ void real_blocks_kernel(std::int64_t count, int n, const double* numbers, double* blocks) {
  const std::int64_t e = element();
  if (e >= count) return;
  const std::int64_t block = e / (n * n);
  const int place = static_cast<int>(e % (n * n));
  const int column = place / n;
  const int row = place % n;
  const double re = numbers[2 * e];
  const double im = numbers[2 * e + 1];
  double* const left = blocks + 4 * n * n * block + 4 * n * column + 2 * row;
  double* const right = left + 2 * n;
  left[0] = re;
  left[1] = im;
  right[0] = -im;
  right[1] = re;
}

class CudaRealBlocks final : public RealBlocks::Impl {
 public:
  CudaRealBlocks(const double* numbers, std::int64_t count, int n, cudaStream_t s)
      : values_(4 * static_cast<std::size_t>(count), s) {
    real_blocks_kernel<<<element_blocks(count), kElementBlock, 0, s>>>(count, n, numbers, values_.data());
    check_launch("real_blocks_kernel");
  }
  [[nodiscard]] const double* values() const override { return values_.data(); }

 private:
  DeviceArray<double> values_;
};

}  // namespace

std::unique_ptr<RealBlocks::Impl> real_blocks(const double* numbers, std::int64_t count, Index block_size,
                                              Stream stream) {
  return std::make_unique<CudaRealBlocks>(numbers, count, block_size, native(stream));
}

}  // namespace taskdag::cuda
