#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/memory.hpp"
#include "csr/row_lanes.cuh"
#include "kernels/jacobi/dominance.hpp"
#include "kernels/jacobi/dominance_cuda.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::kElementBlock;

/// counts[0…4]: absent, zero, negative, strict, poor; counts[5]: rows from the first absent one on, or 0. Whole blocks
/// take part.
template <int Lanes>
__global__ void dominance_kernel(CsrView a, DominanceLimits limits, Index* counts) {
  const auto row = static_cast<Index>(element() / Lanes);
  const int rank = static_cast<int>(threadIdx.x) % Lanes;
  const bool inside = row < a.pattern.rows;
  DominanceRow share;
  if (inside) share = dominance_share(a, row, rank, Lanes);
#pragma unroll
  for (int offset = Lanes / 2; offset > 0; offset /= 2) {
    share.merge({__shfl_xor_sync(cuda::kFullWarp, share.diagonal, offset),
                 __shfl_xor_sync(cuda::kFullWarp, share.beside, offset),
                 __shfl_xor_sync(cuda::kFullWarp, share.diagonals, offset)});
  }
  RowDominance found;
  if (inside && rank == 0) found = dominance_of(share, limits);
  if (found.absent) atomicMax(counts + 5, a.pattern.rows - row);
  const int absent = __syncthreads_count(found.absent);
  const int zero = __syncthreads_count(found.zero);
  const int negative = __syncthreads_count(found.negative);
  const int strict = __syncthreads_count(found.strict);
  const int poor = __syncthreads_count(found.poor);
  if (threadIdx.x != 0) return;
  if (absent > 0) atomicAdd(counts, absent);
  if (zero > 0) atomicAdd(counts + 1, zero);
  if (negative > 0) atomicAdd(counts + 2, negative);
  if (strict > 0) atomicAdd(counts + 3, strict);
  if (poor > 0) atomicAdd(counts + 4, poor);
}

}  // namespace

DiagonalDominance cuda_dominance(const DevicePattern& pattern, const double* values, const DominanceLimits& limits,
                                 cudaStream_t stream) {
  if (pattern.rows == 0) return {};
  const cuda::ScratchArray<Index> counts(6, stream);
  cuda::check(cudaMemsetAsync(counts.data(), 0, counts.size() * sizeof(Index), stream), "clearing counters");
  const CsrView a{{pattern.rows, pattern.rows, pattern.row_offsets, pattern.col_indices}, values};
  with_row_lanes(lanes_of_average_row(pattern.rows, pattern.entries), pattern.rows, [&](auto lanes, int blocks) {
    dominance_kernel<decltype(lanes)::value><<<blocks, kElementBlock, 0, stream>>>(a, limits, counts.data());
  });
  cuda::check_launch("dominance_kernel");
  const auto found = cuda::fetch_array(counts.data(), counts.size(), stream);
  const Index first_absent = found[5] > 0 ? pattern.rows - found[5] : -1;
  return {pattern.rows, found[0], found[1], found[2], found[3], found[4], first_absent};
}

}  // namespace taskdag::kernels
