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

class ComplexSweeps final : public BlockSweeps {
 public:
  ComplexSweeps(const BlockSweepsInput& input, const FactorBlocks& factor, cudaStream_t s)
      : request_(input.request),
        symmetric_(input.symmetric),
        row_order_(input.row_order),
        col_order_(input.col_order),
        sweeps_(make_pair(pattern_of(factor), nullptr, row_order_.data(), col_order_.data(), s)) {}

  void load(const FactorBlocks& factor, cudaStream_t s) override {
    const ScratchArray<double> pivots = pivots_of(factor, s);
    sweeps_.load({factor.values}, {factor.values, pivots.data()}, s);
    if (transposed_.first.sweep) transposed_.load({factor.values, pivots.data()}, {factor.values}, s);
  }

  [[nodiscard]] bool transposes() const override { return symmetric_ || transposed_.first.sweep; }
  void prepare_transposed(const FactorBlocks& factor, cudaStream_t s) override {
    if (transposes()) return;
    const DeviceCsr pattern = kernels::transpose_pattern(pattern_of(factor), s);
    SweepPair made = make_pair(pattern.pattern(), pattern.source.data(), col_order_.data(), row_order_.data(), s);
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
  [[nodiscard]] SweepPair make_pair(const DevicePattern& pattern, const Offset* source, const Index* in,
                                    const Index* out, cudaStream_t s) const {
    const AnalysedTriangle forward(pattern, Triangle::lower, s);
    const AnalysedTriangle backward(pattern, Triangle::upper, s);
    SweepPair pair;
    kernels::SweepInput input = forward.input(source);
    input.complex_numbers = true;
    input.rhs_index = in;
    pair.first = ChosenSweep(request_, forward, input, s);
    input = backward.input(source);
    input.complex_numbers = true;
    input.rhs_index = pair.first->result_index();
    input.x_index = out;
    pair.second = ChosenSweep(request_, backward, input, s);
    return pair;
  }
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

/// Whether a sweep by real rows is expected to take less. The look at them takes as long as some applications, and is
/// not taken where hops are the smaller part of what numbers take.
bool rows_are_faster(const FactorBlocks& factor, cudaStream_t s) {
  const AnalysedTriangle numbers(pattern_of(factor), Triangle::lower, s);
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
  if (rows_are_faster(factor, s)) return make_row_sweeps(input, factor, s);
  return std::make_unique<ComplexSweeps>(input, factor, s);
}

}  // namespace taskdag::cuda
