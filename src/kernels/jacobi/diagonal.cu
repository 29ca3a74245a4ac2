/// \file
/// What one sweep with the inverse diagonal needs: the first set-up of a process loads these kernels and no others.
#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/seam.cuh"
#include "kernels/jacobi/cuda.hpp"
#include "kernels/jacobi/task.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;

constexpr int kDiagonalLanes = 4;

/// kDiagonalLanes lanes a row, of which one finds the entry.
__global__ void diagonal_kernel(CsrView a, bool absolute, double damping, double* scale, Index* zeros) {
  const auto row = static_cast<Index>(element() / kDiagonalLanes);
  const int rank = static_cast<int>(threadIdx.x) % kDiagonalLanes;
  const bool inside = row < a.pattern.rows;
  double d = inside ? jacobi_share(a, JacobiDiagonal::diagonal, row, rank, kDiagonalLanes).diagonal : 0.0;
#pragma unroll
  for (int offset = kDiagonalLanes / 2; offset > 0; offset /= 2) d += __shfl_xor_sync(cuda::kFullWarp, d, offset);
  if (!inside || rank != 0) return;
  if (d == 0.0) atomicAdd(zeros, 1);
  scale[row] = damping * jacobi_inverse(d, absolute);
}

__global__ void first_sweep_kernel(Index rows, const double* scale, double weight, const double* b, double* x) {
  const auto row = static_cast<Index>(element());
  if (row < rows) x[row] = weight * scale[row] * b[row];
}

}  // namespace

void cuda_jacobi_diagonal(const DevicePattern& pattern, const double* values, const JacobiOptions& options,
                          double* scale, Index* zeros, cudaStream_t stream) {
  cuda::check(cudaMemsetAsync(zeros, 0, sizeof(Index), stream), "clearing a counter");
  if (pattern.rows == 0) return;
  const CsrView a{{pattern.rows, pattern.rows, pattern.row_offsets, pattern.col_indices}, values};
  diagonal_kernel<<<element_blocks(std::int64_t{pattern.rows} * kDiagonalLanes), kElementBlock, 0, stream>>>(
      a, options.absolute, options.damping, scale, zeros);
  cuda::check_launch("diagonal_kernel");
}

void cuda_jacobi_first_sweep(Index rows, const double* scale, double weight, const double* b, double* x,
                             cudaStream_t stream) {
  if (rows == 0) return;
  first_sweep_kernel<<<element_blocks(rows), kElementBlock, 0, stream>>>(rows, scale, weight, b, x);
  cuda::check_launch("first_sweep_kernel");
}

}  // namespace taskdag::kernels
