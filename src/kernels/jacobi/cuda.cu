#include <algorithm>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/seam.cuh"
#include "csr/row_lanes.cuh"
#include "kernels/jacobi/cuda.hpp"
#include "kernels/jacobi/task.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;

CsrView device_view(const DevicePattern& pattern, const double* values) {
  return {{pattern.rows, pattern.rows, pattern.row_offsets, pattern.col_indices}, values};
}

template <int Lanes>
__global__ void scale_kernel(CsrView a, JacobiDiagonal kind, double l1_scale, const double* outside, bool absolute,
                             double damping, double* scale, Index* zeros) {
  const auto row = static_cast<Index>(element() / Lanes);
  const int rank = static_cast<int>(threadIdx.x) % Lanes;
  const bool inside = row < a.pattern.rows;
  JacobiRow share;
  if (kind == JacobiDiagonal::row_sum) {
    // Entries of both signs may cancel: whether what remains is 0 depends on the order in which they are added up, so
    // it is that of the row on every backend.
    if (inside && rank == 0) share = jacobi_share(a, kind, row, 0, 1);
  } else if (inside) {
    share = jacobi_share(a, kind, row, rank, Lanes);
  }
#pragma unroll
  for (int offset = Lanes / 2; offset > 0; offset /= 2) {  // whole warps take part: no lane has left
    share.merge({__shfl_xor_sync(cuda::kFullWarp, share.diagonal, offset),
                 __shfl_xor_sync(cuda::kFullWarp, share.largest, offset),
                 __shfl_xor_sync(cuda::kFullWarp, share.sum, offset)});
  }
  if (!inside || rank != 0) return;
  if (outside != nullptr) share.add_outside(outside[row]);
  const double d = share.term(kind, l1_scale);
  if (d == 0.0) atomicAdd(zeros, 1);
  scale[row] = damping * jacobi_inverse(d, absolute);
}

/// Blocks start in the order of their numbers: this one's among them, counted from the end where it goes backward.
__device__ unsigned block_of(bool backward) { return backward ? gridDim.x - 1U - blockIdx.x : blockIdx.x; }

template <int Lanes>
__global__ void sweep_kernel(CsrView a, const double* scale, double weight, const double* b, const double* x, double* y,
                             bool backward) {
  const auto row = static_cast<Index>((std::int64_t{block_of(backward)} * blockDim.x + threadIdx.x) / Lanes);
  if (row >= a.pattern.rows) return;  // a whole group: a row belongs to one group
  const cuda::LaneGroup group(static_cast<int>(threadIdx.x) % cuda::kWarpSize, Lanes);
  const double result = jacobi_row(group, a, row, x, b[row], weight * scale[row]);
  if (group.rank() == 0) y[row] = result;
}

__global__ void __launch_bounds__(kPartThreads)
    sweep_part_kernel(JacobiSweep sweep, const JacobiPart* parts, bool backward) {
  __shared__ __align__(16) std::byte scratch[engine::BlockGroup<kPartThreads>::kScratch];
  const engine::BlockGroup<kPartThreads> group(static_cast<int>(threadIdx.x), 1, scratch);
  const unsigned part = block_of(backward);
  sweep_part(group, sweep, parts[part], part);
}

__global__ void change_kernel(Index rows, const double* x, const double* y, double* change) {
  double sum = 0.0;
  for (std::int64_t i = element(); i < rows; i += std::int64_t{gridDim.x} * blockDim.x) sum += fabs(x[i] - y[i]);
  sum = cuda::LaneGroup(static_cast<int>(threadIdx.x) % cuda::kWarpSize, cuda::kWarpSize).sum(sum);
  if (threadIdx.x % cuda::kWarpSize == 0) atomicAdd(change, sum);
}

/// Calls launch(std::integral_constant<int, lanes>, blocks) for cuda_jacobi_lanes().
template <class Launch>
void with_lanes(const DevicePattern& pattern, const Launch& launch) {
  with_row_lanes(cuda_jacobi_lanes(pattern.rows, pattern.entries), pattern.rows, launch);
}

}  // namespace

int cuda_jacobi_lanes(Index rows, Offset entries) { return lanes_of_average_row(rows, entries); }

void cuda_jacobi_scale(const DevicePattern& pattern, const double* values, const JacobiOptions& options,
                       const double* outside, double* scale, Index* zeros, cudaStream_t stream) {
  if (options.diagonal == JacobiDiagonal::diagonal) {
    cuda_jacobi_diagonal(pattern, values, options, scale, zeros, stream);
    return;
  }
  cuda::check(cudaMemsetAsync(zeros, 0, sizeof(Index), stream), "clearing a counter");
  if (pattern.rows == 0) return;
  with_lanes(pattern, [&](auto lanes, int blocks) {
    scale_kernel<decltype(lanes)::value>
        <<<blocks, kElementBlock, 0, stream>>>(device_view(pattern, values), options.diagonal, options.l1_scale,
                                               outside, options.absolute, options.damping, scale, zeros);
  });
  cuda::check_launch("scale_kernel");
}

void cuda_jacobi_sweep(const DevicePattern& pattern, const double* values, const double* scale, double weight,
                       const double* b, const double* x, double* y, bool backward, cudaStream_t stream) {
  if (pattern.rows == 0) return;
  with_lanes(pattern, [&](auto lanes, int blocks) {
    sweep_kernel<decltype(lanes)::value>
        <<<blocks, kElementBlock, 0, stream>>>(device_view(pattern, values), scale, weight, b, x, y, backward);
  });
  cuda::check_launch("sweep_kernel");
}

void cuda_jacobi_sweep_parts(const JacobiSweep& sweep, const JacobiPart* parts, std::uint32_t count, bool backward,
                             cudaStream_t stream) {
  if (count == 0) return;
  sweep_part_kernel<<<count, kPartThreads, 0, stream>>>(sweep, parts, backward);
  cuda::check_launch("sweep_part_kernel");
}

void cuda_jacobi_change(Index rows, const double* x, const double* y, double* change, cudaStream_t stream) {
  cuda::check(cudaMemsetAsync(change, 0, sizeof(double), stream), "clearing a sum");
  if (rows == 0) return;
  change_kernel<<<std::min(element_blocks(rows), 1024), kElementBlock, 0, stream>>>(rows, x, y, change);
  cuda::check_launch("change_kernel");
}

}  // namespace taskdag::kernels
