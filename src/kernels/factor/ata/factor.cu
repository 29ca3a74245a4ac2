#include "kernels/factor/ata/factor.cuh"

namespace taskdag::kernels::ata {
namespace {

__global__ void prepare_kernel(const FactorPreparation p, const FactorCall call) {
  const auto i = static_cast<Offset>(cuda::element());
  if (i == 0) *p.call = call;
  if (i < p.entries) call.entries[i] = not_yet();
  if (i < p.rows) call.inverse_pivots[i] = not_yet();
  if (i < p.tickets) p.ticket[i] = 0;
}

}  // namespace

void prepare_factor(const FactorPreparation& preparation, const FactorCall& call, cudaStream_t stream) {
  const Offset elements = std::max({preparation.entries, preparation.rows, preparation.tickets, 1});
  prepare_kernel<<<cuda::element_blocks(elements), cuda::kElementBlock, 0, stream>>>(preparation, call);
  cuda::check_launch("prepare_kernel");
}

FineDag fetch_lower_dag(const DevicePattern& pattern, cudaStream_t stream) {
  const TriangleRanges ranges = find_triangle(pattern, Triangle::lower, stream);
  const RowLevels levels = compute_levels(pattern, ranges, Triangle::lower, stream);
  return fetch_fine_dag(pattern, Triangle::lower, levels, stream);
}

}  // namespace taskdag::kernels::ata
