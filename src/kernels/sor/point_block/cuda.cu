#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/check.hpp"
#include "backends/cuda/seam.cuh"
#include "kernels/sor/point_block/cuda.hpp"

namespace taskdag::kernels::point_block {

namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::kFullWarp;
using cuda::kWarpSize;

constexpr int kWarps = 4;  // of a thread block

/// The Group of a warp. The columns of a row stand side by side in D⁻¹ A, so they are the lanes'.
struct Warp {
  int lane;
  __device__ void sync() const { __syncwarp(); }
  template <class Body>
  __device__ void each(int count, const Body& body) const {
    for (int k = lane; k < count; k += kWarpSize) body(k);
  }
  template <class Size, class Body>
  __device__ void each_element(Size size, const Body& body) const {
    const int n = size.rows();
    for (int k = lane; k < n * n; k += kWarpSize) body(k / n, k % n);
  }
};

__device__ Warp own_warp() { return {static_cast<int>(threadIdx.x) % kWarpSize}; }
__device__ Index own_row() {
  return static_cast<Index>(blockIdx.x) * kWarps + static_cast<Index>(threadIdx.x) / kWarpSize;
}
int warp_blocks(Index rows) { return (rows - 1) / kWarps + 1; }

/// Doubles of a warp in shared memory: a block, and its pivot rows.
__host__ __device__ constexpr int room_of_warp(int n) {
  return n * n + static_cast<int>(kLargestBlock * sizeof(int) / sizeof(double));
}

template <class Size>
__global__ void scaled_pattern_kernel(const ScaledRows a, Offset* row_offsets, Index* col_indices) {
  const Index i = own_row();
  if (i >= a.rows) return;  // a whole warp
  if (i == 0 && own_warp().lane == 0) row_offsets[0] = 0;
  write_pattern(Size(a.block_size), own_warp(), a, i, row_offsets, col_indices);
}

template <class Size>
__global__ void __launch_bounds__(kWarps* kWarpSize)
    scale_rows_kernel(const ScaledRows a, const double* blocks, double omega, double shift, double* inverses,
                      double* values, BlockFindings* findings) {
  extern __shared__ double room[];
  const Index i = own_row();
  if (i >= a.rows) return;  // a whole warp
  const Size size(a.block_size);
  const int n = size.rows();
  const Warp warp = own_warp();
  double* const inverse = room + static_cast<int>(threadIdx.x) / kWarpSize * room_of_warp(n);
  auto* const pivot_rows = reinterpret_cast<int*>(inverse + n * n);
  const Inversion found = scale_block_row(size, warp, a, blocks, i, omega, shift, inverse, pivot_rows, values);
  bool finite = found.finite;
  double* const own = inverses + elements_of(size, i);
  warp.each(n * n, [&](int k) {
    own[k] = inverse[k];
    finite = finite && is_finite(inverse[k]);
  });
  finite = __all_sync(kFullWarp, finite);
  if (warp.lane != 0) return;
  if (found.first_zero >= 0) {
    atomicMin(&findings->first_zero, i * n + found.first_zero);
    atomicMax(&findings->last_zero, i * n + found.last_zero);
  } else if (!finite) {
    atomicMin(&findings->first_non_finite, i * n);
  }
}

template <class Size>
__global__ void multiply_inverses_kernel(Index elements, Size size, const double* inverses, const double* b,
                                         double* x) {
  const auto k = static_cast<Index>(element());
  if (k >= elements) return;
  x[k] = inverse_times(size, inverses, k / size.rows(), k % size.rows(), b);
}

}  // namespace

void cuda_scaled_pattern(const ScaledRows& a, Offset* row_offsets, Index* col_indices, cudaStream_t stream) {
  if (a.rows == 0) return;
  // The pattern is made once: the general form does.
  scaled_pattern_kernel<BlockSize<0>>
      <<<warp_blocks(a.rows), kWarps * kWarpSize, 0, stream>>>(a, row_offsets, col_indices);
  cuda::check_launch("scaled_pattern_kernel");
}

void cuda_scale_rows(const ScaledRows& a, const double* blocks, double omega, double shift, double* inverses,
                     double* values, BlockFindings* findings, cudaStream_t stream) {
  if (a.rows == 0) return;
  with_block_size(a.block_size, [&](auto size) {
    const std::size_t bytes = sizeof(double) * kWarps * static_cast<std::size_t>(room_of_warp(a.block_size));
    scale_rows_kernel<decltype(size)><<<warp_blocks(a.rows), kWarps * kWarpSize, bytes, stream>>>(
        a, blocks, omega, shift, inverses, values, findings);
    cuda::check_launch("scale_rows_kernel");
  });
}

void cuda_multiply_inverses(Index rows, int block_size, const double* inverses, const double* b, double* x,
                            cudaStream_t stream) {
  if (rows == 0) return;
  with_block_size(block_size, [&](auto size) {
    const Index elements = rows * block_size;
    multiply_inverses_kernel<<<element_blocks(elements), kElementBlock, 0, stream>>>(elements, size, inverses, b, x);
    cuda::check_launch("multiply_inverses_kernel");
  });
}

}  // namespace taskdag::kernels::point_block
