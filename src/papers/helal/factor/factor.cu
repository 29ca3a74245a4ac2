#include "backends/cuda/reduce.hpp"
#include "papers/helal/factor/factor.cuh"

namespace taskdag::kernels::ata {
namespace {

__global__ void prepare_kernel(const FactorPreparation p, const FactorCall call) {
  const auto i = static_cast<Offset>(cuda::element());
  if (i == 0) *p.call = call;
  if (i < p.entries) call.entries[i] = not_yet();
  if (i < p.rows) call.inverse_pivots[i] = not_yet();
  if (i < p.tickets) p.ticket[i] = 0;
}

__global__ void lengths_kernel(DevicePattern vectors, Index* length) {
  const auto i = static_cast<Index>(cuda::element());
  if (i < vectors.rows) length[i] = vectors.row_offsets[i + 1] - vectors.row_offsets[i];
}

}  // namespace

void prepare_factor(const FactorPreparation& preparation, const FactorCall& call, cudaStream_t stream) {
  const Offset elements = std::max({preparation.entries, preparation.rows, preparation.tickets, 1});
  prepare_kernel<<<cuda::element_blocks(elements), cuda::kElementBlock, 0, stream>>>(preparation, call);
  cuda::check_launch("prepare_kernel");
}

LowerDag make_lower_dag(const DevicePattern& pattern, cudaStream_t stream) {
  constexpr int kWarpEach = 0;
  TriangleRanges ranges = find_triangle(pattern, Triangle::lower, stream);
  RowLevels levels = compute_levels(pattern, ranges, Triangle::lower, stream);
  FineDag dag = make_fine_dag(pattern, Triangle::lower, ranges, levels, stream);
  RowLanes lanes = lanes_of_rows(pattern.rows, ranges.count.data(), kWarpEach, stream);
  return {std::move(ranges), std::move(levels), std::move(dag), std::move(lanes)};
}

Index longest_vector(const DevicePattern& vectors, cudaStream_t stream) {
  const cuda::ScratchArray<Index> length(static_cast<std::size_t>(vectors.rows), stream);
  lengths_kernel<<<cuda::element_blocks(vectors.rows), cuda::kElementBlock, 0, stream>>>(vectors, length.data());
  cuda::check_launch("lengths_kernel");
  return cuda::largest(length.data(), vectors.rows, stream);
}

}  // namespace taskdag::kernels::ata
