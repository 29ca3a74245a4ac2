#include "taskdag/block_jacobi.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "context/state.hpp"
#include "dag/transpose.hpp"
#include "kernels/jacobi/blocks/host.hpp"
#include "kernels/jacobi/host.hpp"
#include "kernels/jacobi/weights.hpp"
#include "solver/checks.hpp"
#include "solver/impl.hpp"

namespace taskdag::host {

namespace {

class HostBlockJacobi final : public BlockJacobi::Impl {
 public:
  HostBlockJacobi(const Context& context, const CsrPattern& pattern, const JacobiBlocks& blocks,
                  const BlockJacobiOptions& options)
      : state_(context.state()),
        options_(options),
        keeps_(options.sweeps > 1 || options.keep_matrix),
        layout_(blocks),
        inverse_(static_cast<std::size_t>(layout_.values())) {
    if (keeps_ && pattern.rows > 0) {
      matrix_ = {pattern.rows,
                 pattern.cols,
                 {pattern.row_offsets, pattern.row_offsets + pattern.rows + 1},
                 {pattern.col_indices, pattern.col_indices + pattern.entries()},
                 std::vector<double>(static_cast<std::size_t>(pattern.entries()))};
      residual_.resize(static_cast<std::size_t>(pattern.rows));
    }
    info = {pattern.rows, layout_.blocks, layout_.largest, layout_.block_entries, 0};
    count_bytes();
  }

  FactorStatus update_values(const CsrView& a, MemorySpace space, Stream) override {
    require_host_memory(space);
    if (keeps_) std::copy(a.values, a.values + matrix_.values.size(), matrix_.values.begin());
    transposed_.reset();
    count_bytes();
    return kernels::status_of(kernels::host_invert_blocks(a, layout_.slices(), *state_->pool, inverse_.data()));
  }

  void check_space(MemorySpace space) const override { require_host_memory(space); }
  void refuse_capture(Stream, const char*) const override {}

  void apply(const double* b, double* x, MemorySpace, bool transposed, Stream) override {
    correct(0, transposed, false, b, x);
    if (options_.sweeps == 1 || info.rows == 0) return;
    const CsrView a = transposed ? transposed_matrix() : matrix_.view();
    for (int sweep = 1; sweep < options_.sweeps; ++sweep) improve(a, sweep, transposed, b, x);
  }

  void iterate(const double* b, double* x, MemorySpace, Stream) override {
    for (int sweep = 0; sweep < options_.sweeps; ++sweep) improve(matrix_.view(), sweep, false, b, x);
  }

 private:
  void improve(const CsrView& a, int sweep, bool transposed, const double* b, double* x) {
    kernels::host_jacobi_residual(a, b, x, residual_.data(), *state_->pool);
    correct(sweep, transposed, true, residual_.data(), x);
  }

  void correct(int sweep, bool transposed, bool adds, const double* r, double* x) {
    const double factor = options_.damping * kernels::jacobi_weight(options_.weights, options_.sweeps, sweep);
    kernels::host_apply_blocks(layout_.slices(), inverse_.data(), transposed, adds, factor, r, x, *state_->pool);
  }

  CsrView transposed_matrix() {
    if (!transposed_) {
      Transposed pattern = transpose(matrix_.pattern());
      std::vector<double> values(pattern.source_entry.size());
      for (std::size_t e = 0; e < values.size(); ++e) {
        values[e] = matrix_.values[static_cast<std::size_t>(pattern.source_entry[e])];
      }
      transposed_ = CsrMatrix{pattern.rows, pattern.cols, std::move(pattern.row_offsets),
                              std::move(pattern.col_indices), std::move(values)};
      count_bytes();
    }
    return transposed_->view();
  }

  void count_bytes() {
    const auto size_of = [](const auto& values) {
      return static_cast<std::int64_t>(values.size() * sizeof(*values.data()));
    };
    const auto size_of_matrix = [&](const CsrMatrix& a) {
      return size_of(a.row_offsets) + size_of(a.col_indices) + size_of(a.values);
    };
    info.bytes = size_of(layout_.row) + size_of(layout_.span) + size_of(layout_.place) + size_of(layout_.offset) +
                 size_of(inverse_) + size_of(residual_) + (keeps_ ? size_of_matrix(matrix_) : 0) +
                 (transposed_ ? size_of_matrix(*transposed_) : 0);
  }

  std::shared_ptr<Context::State> state_;
  BlockJacobiOptions options_;
  bool keeps_;
  kernels::BlockLayout layout_;
  std::vector<double> inverse_;
  CsrMatrix matrix_;  // this and what follows: if keeps_
  std::vector<double> residual_;
  std::optional<CsrMatrix> transposed_;  // from the first transposed application with these values on
};

}  // namespace

std::unique_ptr<BlockJacobi::Impl> make_block_jacobi(const Context& context, const CsrPattern& pattern,
                                                     const JacobiBlocks& blocks, const BlockJacobiOptions& options) {
  return std::make_unique<HostBlockJacobi>(context, pattern, blocks, options);
}

}  // namespace taskdag::host
