#include <optional>

#include "context/state.hpp"
#include "dag/transpose.hpp"
#include "kernels/jacobi/host.hpp"
#include "solver/checks.hpp"
#include "solver/impl.hpp"

namespace taskdag::host {

namespace {

class HostJacobi final : public Jacobi::Impl {
 public:
  HostJacobi(const Context& context, const CsrView& a, const JacobiOptions& options)
      : state_(context.state()), options_(options), scale_(static_cast<std::size_t>(a.pattern.rows)) {
    update_values(a, MemorySpace::host, {});
  }

  void update_values(const CsrView& a, MemorySpace space, Stream) override {
    require_host_memory(space);
    zero_diagonals = kernels::host_jacobi_scale(a, options_, *state_->pool, scale_.data());
    bytes = static_cast<std::int64_t>(sizeof(double) * scale_.size());
    if (options_.sweeps == 1) return;
    const auto rows = static_cast<std::size_t>(a.pattern.rows);
    const Offset entries = a.pattern.entries();
    if (rows > 0) {
      matrix_ = {a.pattern.rows,
                 a.pattern.cols,
                 {a.pattern.row_offsets, a.pattern.row_offsets + rows + 1},
                 {a.pattern.col_indices, a.pattern.col_indices + entries},
                 {a.values, a.values + entries}};
    }
    transposed_.reset();
    work_.resize(rows);
    bytes += static_cast<std::int64_t>(sizeof(double) * rows + sizeof(Offset) * (rows + 1)) +
             static_cast<std::int64_t>(sizeof(double) + sizeof(Index)) * entries;
  }

  void check_space(MemorySpace space) const override { require_host_memory(space); }
  void refuse_capture(Stream, const char*) const override {}

  void apply(const double* b, double* x, MemorySpace space, bool transposed, Stream) override {
    require_host_memory(space);
    // The sweeps alternate between two arrays; x must be the last one written.
    double* from = options_.sweeps % 2 == 1 ? x : work_.data();
    double* to = from == x ? work_.data() : x;
    for (std::size_t i = 0; i < scale_.size(); ++i) from[i] = scale_[i] * b[i];
    if (options_.sweeps == 1) return;
    const CsrView a = transposed ? transposed_matrix() : matrix_.view();
    for (int sweep = 1; sweep < options_.sweeps; ++sweep) {
      kernels::host_jacobi_sweep(a, scale_.data(), b, from, to, *state_->pool);
      std::swap(from, to);
    }
  }

 private:
  CsrView transposed_matrix() {
    if (!transposed_) {
      Transposed pattern = transpose(matrix_.pattern());
      std::vector<double> values(pattern.source_entry.size());
      for (std::size_t e = 0; e < values.size(); ++e) {
        values[e] = matrix_.values[static_cast<std::size_t>(pattern.source_entry[e])];
      }
      transposed_ = CsrMatrix{pattern.rows, pattern.cols, std::move(pattern.row_offsets),
                              std::move(pattern.col_indices), std::move(values)};
    }
    return transposed_->view();
  }

  std::shared_ptr<Context::State> state_;
  JacobiOptions options_;
  std::vector<double> scale_;
  CsrMatrix matrix_;  // with more than one sweep
  std::optional<CsrMatrix> transposed_;
  std::vector<double> work_;
};

}  // namespace

std::unique_ptr<Jacobi::Impl> make_jacobi(const Context& context, const CsrView& a, const JacobiOptions& options) {
  return std::make_unique<HostJacobi>(context, a, options);
}

}  // namespace taskdag::host
