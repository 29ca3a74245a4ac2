/// \file
/// Sweeps of a factor by point blocks that are those of its real rows: of L and Ũ
/// (kernels/factor/point_block/cuda/rows.hpp), by whatever schedule is chosen for them.
#include <utility>

#include "base/index.hpp"
#include "solver/cuda/block_sweeps.hpp"

namespace taskdag::cuda {

using kernels::DeviceCsr;
using kernels::point_block::FactorBlocks;

namespace {

/// The second sweep's right-hand sides are numbered by rows: what goes between the sweeps puts them there.
SweepPair make_pair(const ScheduleRequest& request, const DeviceCsr& pattern, const Index* in, const Index* out,
                    const RowBlocks* blocks, cudaStream_t s) {
  const AnalysedTriangle forward(pattern.pattern(), Triangle::lower, s);
  const AnalysedTriangle backward(pattern.pattern(), Triangle::upper, s);
  const Offset* const source = pattern.source.size() > 0 ? pattern.source.data() : nullptr;
  SweepPair pair;
  kernels::SweepInput input = forward.input(source);
  input.rhs_index = in;
  input.blocks = blocks;
  input.mirrored = [&]() -> const kernels::RowLevels& { return backward.levels; };
  pair.first = ChosenSweep(request, forward, input, s);
  input = backward.input(source);
  input.x_index = out;
  input.blocks = blocks;
  input.mirrored = [&]() -> const kernels::RowLevels& { return forward.levels; };
  pair.second = ChosenSweep(request, backward, input, s);
  return pair;
}

/// No schedule that rewrites rows: what they gain the blocks have gained, and what they may lose is not measured here.
ScheduleRequest with_rows_as_they_are(ScheduleRequest request) {
  request.keep_rows = true;
  return request;
}

class RowSweeps final : public BlockSweeps {
 public:
  RowSweeps(const BlockSweepsInput& input, const FactorBlocks& factor, cudaStream_t s)
      : request_(with_rows_as_they_are(input.request)),
        blocks_(input.blocks),
        symmetric_(input.symmetric),
        complex_(input.complex),
        row_order_(kernels::point_block::order_by_rows(input.row_order, factor.block_size, s)),
        col_order_(kernels::point_block::order_by_rows(input.col_order, factor.block_size, s)),
        sweeps_(make_pair(request_, kernels::point_block::pattern_by_rows(factor, s), row_order_.data(),
                          col_order_.data(), blocks_, s)),
        middle_(at(factor.rows) * at(factor.block_size), s) {}

  void load(const FactorBlocks& factor, cudaStream_t s) override {
    const ScratchArray<double> entries(at(factor.entries_by_rows()), s);
    kernels::point_block::values_by_rows(factor, false, entries.data(), s);
    const SweepPair::Values values{entries.data()};
    sweeps_.load(values, values, s);
    if (!transposed_.first.sweep) return;
    if (complex_) kernels::point_block::values_by_rows(factor, true, entries.data(), s);
    transposed_.load(values, values, s);
  }

  [[nodiscard]] bool transposes() const override { return symmetric_ || transposed_.first.sweep; }
  void prepare_transposed(const FactorBlocks& factor, cudaStream_t s) override {
    if (transposes()) return;
    const DeviceCsr pattern = kernels::point_block::pattern_by_rows(factor, s);
    const DeviceCsr of_transposed = kernels::transpose_pattern(pattern.pattern(), s);
    SweepPair made = make_pair(request_, of_transposed, col_order_.data(), row_order_.data(), blocks_, s);
    const ScratchArray<double> entries(at(factor.entries_by_rows()), s);
    kernels::point_block::values_by_rows(factor, complex_, entries.data(), s);
    made.load({entries.data()}, {entries.data()}, s);
    transposed_ = std::move(made);
    synchronize(s);  // the patterns may go
  }

  void apply(const FactorBlocks& factor, bool transposed, const double* b, double* x, int* non_finite,
             cudaStream_t s) override {
    const bool uses_transposed = transposed && !symmetric_;
    const SweepPair& pair = uses_transposed ? transposed_ : sweeps_;
    pair.first->solve(b, nullptr, non_finite, s);
    using kernels::point_block::Form;
    const Form form = !uses_transposed ? Form::as_it_is : complex_ ? Form::complex_transposed : Form::transposed;
    kernels::point_block::divide_by_diagonal(factor, form, pair.first->result(), pair.first->result_index(),
                                             middle_.data(), s);
    pair.second->solve(middle_.data(), x, non_finite, s);
  }

  [[nodiscard]] const SweepPair& sweeps() const override { return sweeps_; }
  [[nodiscard]] std::int64_t bytes() const override {
    return row_order_.bytes() + col_order_.bytes() + sweeps_.bytes() + transposed_.bytes() + middle_.bytes();
  }

 private:
  ScheduleRequest request_;
  const RowBlocks* blocks_;
  bool symmetric_;
  bool complex_;
  DeviceArray<Index> row_order_;  ///< of rows; empty: natural
  DeviceArray<Index> col_order_;
  SweepPair sweeps_;
  SweepPair transposed_;        ///< from the first transposed application on, unless symmetric
  DeviceArray<double> middle_;  ///< right-hand side of the second sweep, by row
};

}  // namespace

std::unique_ptr<BlockSweeps> make_row_sweeps(const BlockSweepsInput& input, const FactorBlocks& factor,
                                             cudaStream_t s) {
  return std::make_unique<RowSweeps>(input, factor, s);
}

}  // namespace taskdag::cuda
