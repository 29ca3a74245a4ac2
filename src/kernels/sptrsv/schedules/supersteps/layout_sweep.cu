#include <utility>

#include "backends/cuda/algorithm.cuh"
#include "kernels/sptrsv/schedules/supersteps/layout_sweep.hpp"
#include "kernels/sptrsv/schedules/supersteps/pack.hpp"

namespace taskdag::kernels::supersteps {
namespace {

/// The index maps by place.
__global__ void compose(Index places, const Index* row, const Index* rhs_index, const Index* x_index, Index* rhs,
                        Index* x) {
  const std::int64_t p = cuda::element();
  if (p >= places) return;
  const Index own = row[p];
  rhs[p] = own >= 0 && rhs_index ? rhs_index[own] : own;
  x[p] = own >= 0 && x_index ? x_index[own] : own;
}

__global__ void take_pivots(Index places, const Index* row, const double* pivot, double* by_place) {
  const std::int64_t p = cuda::element();
  if (p < places) by_place[p] = row[p] < 0 ? 1.0 : pivot[row[p]];
}

}  // namespace

LayoutSweep::LayoutSweep(Layout layout, const SweepInput& input, cudaStream_t stream) : layout_(std::move(layout)) {
  const auto places = static_cast<std::size_t>(layout_.places);
  result_ = {places, stream};
  rhs_index_ = {places, stream};
  x_index_ = {places, stream};
  if (layout_.places > 0) {
    compose<<<cuda::element_blocks(layout_.places), cuda::kElementBlock, 0, stream>>>(
        layout_.places, layout_.row.data(), input.rhs_index, input.x_index, rhs_index_.data(), x_index_.data());
    cuda::check_launch("compose");
  }
  cuda::synchronize(stream);  // the input's arrays may go
}

void LayoutSweep::load_values(const double* source, const double* pivot, cudaStream_t stream) {
  supersteps::load_values(layout_, source, stream);
  unit_pivots_ = pivot == nullptr;
  if (unit_pivots_ || layout_.places == 0) return;
  if (pivot_.size() == 0) pivot_ = {static_cast<std::size_t>(layout_.places), stream};
  take_pivots<<<cuda::element_blocks(layout_.places), cuda::kElementBlock, 0, stream>>>(
      layout_.places, layout_.row.data(), pivot, pivot_.data());
  cuda::check_launch("take_pivots");
}

CellArguments LayoutSweep::arguments(const double* rhs, double* x, int* non_finite) const {
  return {layout_.cell.data(),
          layout_.step.data(),
          layout_.operand.data(),
          layout_.single ? static_cast<const void*>(layout_.inner_single.data()) : layout_.inner_value.data(),
          layout_.group.data(),
          layout_.started.data(),
          layout_.outer_place.data(),
          layout_.single ? static_cast<const void*>(layout_.outer_single.data()) : layout_.outer_value.data(),
          rhs_index_.data(),
          x_index_.data(),
          unit_pivots_ ? nullptr : pivot_.data(),
          rhs,
          result_.data(),
          x,
          non_finite};
}

std::int64_t LayoutSweep::bytes() const {
  return layout_.bytes() + result_.bytes() + rhs_index_.bytes() + x_index_.bytes() + pivot_.bytes();
}

}  // namespace taskdag::kernels::supersteps
