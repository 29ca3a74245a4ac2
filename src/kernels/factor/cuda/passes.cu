#include "backends/cuda/reduce.cuh"
#include "backends/cuda/seam.cuh"
#include "kernels/factor/cuda/numeric.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::kWarpSize;
using cuda::ScratchArray;

/// One warp a row.
__global__ void dominance_kernel(DevicePattern pattern, FactorInput input, double* out) {
  const auto row = static_cast<Index>(element() / kWarpSize);
  if (row >= pattern.rows) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  double sum = 0.0;
  for (Offset e = pattern.row_offsets[row] + lane; e < pattern.row_offsets[row + 1]; e += kWarpSize) {
    const double value = input.value(e);
    sum += pattern.col_indices[e] == row ? -value : fabs(value);
  }
  sum = cuda::LaneGroup(lane, kWarpSize).sum(sum);
  if (lane == 0) out[row] = sum;
}

__global__ void unit_kernel(DevicePattern upper, const double* entries, const double* inverse_pivots, double* unit) {
  const auto row = static_cast<Index>(element() / kWarpSize);
  if (row >= upper.rows) return;
  const double scale = inverse_pivots[row];
  for (Offset e = upper.row_offsets[row] + static_cast<Offset>(threadIdx.x) % kWarpSize; e < upper.row_offsets[row + 1];
       e += kWarpSize) {
    unit[e] = entries[e] * scale;
  }
}

}  // namespace

double diagonal_dominance(const DevicePattern& pattern, const double* values, const Offset* source,
                          cudaStream_t stream) {
  if (pattern.rows == 0) return 0.0;
  ScratchArray<double> dominance(static_cast<std::size_t>(pattern.rows), stream);
  dominance_kernel<<<element_blocks(std::int64_t{pattern.rows} * kWarpSize), kElementBlock, 0, stream>>>(
      pattern, FactorInput{values, source, {}}, dominance.data());
  cuda::check_launch("dominance_kernel");
  return cuda::largest(dominance.data(), pattern.rows, stream);
}

void scale_to_unit(const DevicePattern& upper, const Factor& factor, double* unit, cudaStream_t stream) {
  if (upper.rows == 0) return;
  unit_kernel<<<element_blocks(std::int64_t{upper.rows} * kWarpSize), kElementBlock, 0, stream>>>(
      upper, factor.entries(), factor.inverse_pivots(), unit);
  cuda::check_launch("unit_kernel");
}

}  // namespace taskdag::kernels
