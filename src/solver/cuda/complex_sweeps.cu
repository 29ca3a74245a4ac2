/// \file
/// Sweeps of a factor of complex numbers, M = L U: each block of it is a number, which its first column tells.
#include <utility>

#include "backends/cuda/device_rates.hpp"
#include "base/index.hpp"
#include "csr/device_csr.hpp"
#include "kernels/sptrsv/schedules/cuda_catalogue.hpp"
#include "kernels/sptrsv/schedules/flat/cost.hpp"
#include "solver/cuda/block_sweeps.hpp"

namespace taskdag::cuda {

using kernels::DeviceCsr;
using kernels::DevicePattern;
using kernels::point_block::FactorBlocks;

namespace {

DevicePattern pattern_of(const FactorBlocks& factor) {
  return {factor.rows, factor.blocks, factor.offsets, factor.columns};
}

ScheduleRequest with_numbers(ScheduleRequest request) {
  request.complex_numbers = true;
  return request;
}

class ComplexSweeps final : public BlockSweeps {
 public:
  /// forward: the lower triangle of the factor's pattern.
  ComplexSweeps(const BlockSweepsInput& input, const AnalysedTriangle& forward, cudaStream_t s)
      : request_(with_numbers(input.request)),
        symmetric_(input.symmetric),
        row_order_(input.row_order),
        col_order_(input.col_order),
        sweeps_(request_, forward, nullptr, row_order_.data(), AnalysedTriangle(forward.pattern, Triangle::upper, s),
                nullptr, col_order_.data(), nullptr, false, s) {}

  void load(const FactorBlocks& factor, cudaStream_t s) override {
    const ScratchArray<double> pivots = pivots_of(factor, s);
    sweeps_.load({factor.values}, {factor.values, pivots.data()}, s);
    if (transposed_.first.sweep) transposed_.load({factor.values, pivots.data()}, {factor.values}, s);
  }

  [[nodiscard]] bool transposes() const override { return symmetric_ || transposed_.first.sweep; }
  void prepare_transposed(const FactorBlocks& factor, cudaStream_t s) override {
    if (transposes()) return;
    const DeviceCsr transposed = kernels::transpose_pattern(pattern_of(factor), s);
    const DevicePattern pattern = transposed.pattern();
    const Offset* const source = transposed.source.data();
    SweepPair made(request_, AnalysedTriangle(pattern, Triangle::lower, s), source, col_order_.data(),
                   AnalysedTriangle(pattern, Triangle::upper, s), source, row_order_.data(), nullptr, false, s);
    const ScratchArray<double> pivots = pivots_of(factor, s);
    made.load({factor.values, pivots.data()}, {factor.values}, s);
    transposed_ = std::move(made);
    synchronize(s);  // the pattern may go
  }

  void apply(const FactorBlocks& /*factor*/, bool transposed, const double* b, double* x, int* non_finite,
             cudaStream_t s) override {
    (transposed && !symmetric_ ? transposed_ : sweeps_).solve(b, x, non_finite, s);
  }

  [[nodiscard]] const SweepPair& sweeps() const override { return sweeps_; }
  [[nodiscard]] std::int64_t bytes() const override { return sweeps_.bytes() + transposed_.bytes(); }

 private:
  static ScratchArray<double> pivots_of(const FactorBlocks& factor, cudaStream_t s) {
    ScratchArray<double> pivots(2 * at(factor.rows), s);
    kernels::gather_numbers(factor.rows, {factor.values, kernels::kDoublesOfRealBlock}, factor.diagonal, pivots.data(),
                            s);
    return pivots;
  }

  ScheduleRequest request_;
  bool symmetric_;
  const DeviceArray<Index>& row_order_;
  const DeviceArray<Index>& col_order_;
  SweepPair sweeps_;
  SweepPair transposed_;  ///< from the first transposed application on, unless symmetric
};

/// Whether a sweep by real rows is expected to take less than one of this triangle of numbers. The look at them takes
/// as long as some applications, and is not taken where hops are the smaller part of what numbers take.
bool rows_are_faster(const FactorBlocks& factor, const AnalysedTriangle& numbers, cudaStream_t s) {
  const kernels::flat::NumbersCost cost = kernels::flat::cost_of_numbers(numbers.features, device_rates());
  if (cost.hops < cost.rest) return false;
  const DeviceCsr pattern = kernels::point_block::pattern_by_rows(factor, s);
  const AnalysedTriangle rows(pattern.pattern(), Triangle::lower, s);
  const kernels::SweepInput input = rows.input(nullptr);
  kernels::Selection selection(input, rows.features, kernels::cuda_catalogue(), s, false, true);
  return kernels::is_better(kernels::expected_of_cells(selection.choose().microseconds),
                            kernels::ExpectedSchedule{SolveSchedule::flat, cost.hops + cost.rest});
}

}  // namespace

std::unique_ptr<BlockSweeps> make_complex_sweeps(const BlockSweepsInput& input, const FactorBlocks& factor,
                                                 cudaStream_t s) {
  const AnalysedTriangle forward(pattern_of(factor), Triangle::lower, s);
  if (rows_are_faster(factor, forward, s)) return make_row_sweeps(input, factor, s);
  return std::make_unique<ComplexSweeps>(input, forward, s);
}

}  // namespace taskdag::cuda
