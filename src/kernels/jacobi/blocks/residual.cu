#include <cstddef>

#include "csr/row_lanes.cuh"
#include "kernels/jacobi/blocks/residual.hpp"
#include "kernels/jacobi/task.hpp"
#include "taskdag/engine/cuda/group.cuh"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::kElementBlock;

/// All but the long rows.
template <int Lanes>
__global__ void residual_kernel(CsrView a, Offset most, const double* b, const double* x, double* r) {
  const auto row = static_cast<Index>(element() / Lanes);
  // A whole group leaves: a row belongs to one group.
  if (row >= a.pattern.rows || a.pattern.row_offsets[row + 1] - a.pattern.row_offsets[row] > most) return;
  const cuda::LaneGroup group(static_cast<int>(threadIdx.x) % cuda::kWarpSize, Lanes);
  const double result = residual_row(group, a, row, x, b[row]);
  if (group.rank() == 0) r[row] = result;
}

__global__ void __launch_bounds__(kElementBlock)
    long_rows_kernel(CsrView a, const Index* rows, const double* b, const double* x, double* r) {
  __shared__ __align__(16) std::byte scratch[engine::BlockGroup<kElementBlock>::kScratch];
  const engine::BlockGroup<kElementBlock> group(static_cast<int>(threadIdx.x), 1, scratch);
  const Index row = rows[blockIdx.x];
  const double result = residual_row(group, a, row, x, b[row]);
  if (group.rank() == 0) r[row] = result;
}

}  // namespace

void cuda_residual(const DevicePattern& pattern, const double* values, const LongRows& rows, const double* b,
                   const double* x, double* r, cudaStream_t stream) {
  if (pattern.rows == 0) return;
  const CsrView a{{pattern.rows, pattern.rows, pattern.row_offsets, pattern.col_indices}, values};
  with_row_lanes(lanes_of_average_row(pattern.rows, pattern.entries), pattern.rows, [&](auto lanes, int blocks) {
    residual_kernel<decltype(lanes)::value><<<blocks, kElementBlock, 0, stream>>>(a, rows.most, b, x, r);
  });
  cuda::check_launch("residual_kernel");
  if (rows.count == 0) return;
  long_rows_kernel<<<rows.count, kElementBlock, 0, stream>>>(a, rows.row, b, x, r);
  cuda::check_launch("long_rows_kernel");
}

}  // namespace taskdag::kernels
