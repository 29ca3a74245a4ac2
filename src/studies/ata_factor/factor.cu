#include <string>

#include "studies/ata_factor/factor.cuh"
#include "taskdag/error.hpp"

namespace taskdag::kernels::ata {
namespace {

__global__ void prepare_kernel(const FactorPreparation p, const FactorCall call) {
  const auto i = static_cast<Offset>(cuda::element());
  if (i == 0) *p.call = call;
  if (i < p.entries) p.entry[i] = not_yet();
  if (i < p.rows) p.inverse[i] = not_yet();
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

cuda::DeviceArray<Offset> diagonals_of(const DevicePattern& pattern, cudaStream_t stream) {
  cuda::DeviceArray<Offset> result(static_cast<std::size_t>(pattern.rows), stream);
  const Index missing = find_diagonal(pattern, result.data(), stream);
  if (missing >= 0) throw InvalidInput("row " + std::to_string(missing) + " has no diagonal entry");
  return result;
}

}  // namespace taskdag::kernels::ata
