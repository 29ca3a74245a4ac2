#include "backends/cuda/algorithm.cuh"
#include "kernels/elimination/recurrence.hpp"
#include "kernels/elimination/reporter.cuh"
#include "kernels/gather.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;

/// A thread a row, left of the diagonal.
__global__ void find_partners(DevicePattern pattern, const Offset* diagonal, Offset* partner) {
  const auto row = static_cast<Index>(element());
  if (row >= pattern.rows) return;
  for (Offset e = pattern.row_offsets[row]; e < diagonal[row]; ++e) {
    const Index other = pattern.col_indices[e];
    const Offset end = pattern.row_offsets[other + 1];
    const Offset found = cuda::first_not_below(pattern.col_indices, pattern.row_offsets[other], end, row);
    partner[e] = found < end && pattern.col_indices[found] == row ? found : -1;
  }
}

/// A thread a row. partner null: the squares of all entries.
__global__ void load_recurrence(DevicePattern pattern, const Offset* diagonal, const Offset* partner, FactorInput input,
                                double* product, double* rhs, const Index* index) {
  const auto row = static_cast<Index>(element());
  if (row >= pattern.rows) return;
  rhs[index ? index[row] : row] = input.value(diagonal[row]) + input.shift;
  const Offset end = partner ? diagonal[row] : pattern.row_offsets[row + 1];
  for (Offset e = pattern.row_offsets[row]; e < end; ++e) {
    const double value = input.value(e);
    double other = value;
    if (partner) other = partner[e] < 0 ? 0.0 : input.value(partner[e]);
    product[e] = value * other;
  }
}

/// A thread a row. Entries left of the diagonal, which only ilu0 has here, become multipliers.
__global__ void fill_factor(DevicePattern pattern, const Offset* diagonal, FactorInput input, PivotRule rule,
                            FactorTarget target) {
  const auto row = static_cast<Index>(element());
  if (row >= pattern.rows) return;
  const Offset middle = diagonal[row];
  double absolute_sum = 0.0;
  for (Offset e = pattern.row_offsets[row]; e < pattern.row_offsets[row + 1]; ++e) {
    if (e == middle) continue;
    double value = input.value(e);
    // A zero stays one, whatever the pivot.
    if (e < middle && value != 0.0) value *= target.inverse_pivots[pattern.col_indices[e]];
    target.entries[e] = value;
    absolute_sum += fabs(value);
  }
  const double pivot = 1.0 / target.inverse_pivots[row];
  target.entries[middle] = pivot;
  static_cast<void>(check_pivot(rule, row, pivot, absolute_sum, elimination::Reporter{target.report}));
}

}  // namespace

Recurrence::Recurrence(FactorKind kind, const DevicePattern& pattern, const Offset* diagonal, cudaStream_t stream)
    : kind_(kind), pattern_(pattern), diagonal_(diagonal) {
  if (pattern.rows == 0) return;
  const auto entries = static_cast<std::size_t>(pattern.entries);
  product_ = {entries, stream};
  rhs_ = {static_cast<std::size_t>(pattern.rows), stream};
  non_finite_ = {1, stream};
  if (kind == FactorKind::ic0) return;
  partner_ = {entries, stream};
  find_partners<<<element_blocks(pattern.rows), kElementBlock, 0, stream>>>(pattern, diagonal, partner_.data());
  cuda::check_launch("find_partners");
}

void Recurrence::load(const FactorInput& input, const Index* index, cudaStream_t stream) {
  if (pattern_.rows == 0) return;
  load_recurrence<<<element_blocks(pattern_.rows), kElementBlock, 0, stream>>>(
      pattern_, diagonal_, kind_ == FactorKind::ilu0 ? partner_.data() : nullptr, input, product_.data(), rhs_.data(),
      index);
  cuda::check_launch("load_recurrence");
}

void factor_with_inverses(const DevicePattern& pattern, const Offset* diagonal, const FactorInput& input,
                          const PivotRule& rule, const double* inverse, const Index* index, const FactorTarget& target,
                          cudaStream_t stream) {
  gather(pattern.rows, inverse, index, target.inverse_pivots, stream);
  fill_factor<<<element_blocks(pattern.rows), kElementBlock, 0, stream>>>(pattern, diagonal, input, rule, target);
  cuda::check_launch("fill_factor");
}

}  // namespace taskdag::kernels
