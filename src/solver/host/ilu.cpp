#include "kernels/factor/ilu/host.hpp"
#include "solver/host/factorization.hpp"

namespace taskdag::host {

namespace {

class HostIluFactorization final : public HostFactorization {
 public:
  HostIluFactorization(const Context& context, const CsrPattern& pattern, const FactorOptions& options,
                       std::span<const Index> row_order, std::span<const Index> col_order)
      : HostFactorization(context, pattern, options, row_order, col_order),
        kernel_(matrix_.view(), *state_->pool, options.diagonal_only, factor_run()),
        lower_(make_sweep(matrix_.view(), nullptr, Triangle::lower, kernel_.plan())),
        upper_(make_sweep(matrix_.view(), nullptr, Triangle::upper)) {
    upper_.follow(lower_);
    finish_info(lower_, upper_);
  }

  [[nodiscard]] CsrMatrix copy_factor() const override {
    return {matrix_.rows, matrix_.cols, matrix_.row_offsets, matrix_.col_indices, kernel_.values()};
  }

  [[nodiscard]] std::vector<EngineRun> engine_runs() const override {
    std::vector<EngineRun> runs;
    add_run(kernel_.program(), runs);
    add_runs("", lower_, upper_, runs);
    if (transposed_) add_runs("transposed ", transposed_->lower, transposed_->upper, runs);
    return runs;
  }

  void solve_lower(const double* b, double* x, MemorySpace, Stream) override {
    const double* const inverse = kernel_.inverse_pivots().data();
    finite_ &= lower_.run(
        work_.data(), [&](Index i) { return b[at(row_order_, i)]; }, kUnit,
        [&](Index i, double value) { x[at(row_order_, i)] = value * inverse[i]; });
  }
  void solve_upper(const double* b, double* x, MemorySpace, Stream) override {
    const double* const inverse = kernel_.inverse_pivots().data();
    finite_ &= upper_.run(
        work_.data(), [&](Index i) { return b[at(row_order_, i)]; },
        [inverse](Index i, double value) { return value * inverse[i]; },
        [&](Index i, double value) { x[at(row_order_, i)] = value; });
  }
  void multiply_upper(const double* x, double* y, MemorySpace, Stream) override {
    const double* const values = kernel_.values().data();
    for (Index i = 0; i < matrix_.rows; ++i) {
      double sum = 0.0;
      for (Offset e = matrix_.row_offsets[static_cast<std::size_t>(i)];
           e < matrix_.row_offsets[static_cast<std::size_t>(i) + 1]; ++e) {
        const Index j = matrix_.col_indices[static_cast<std::size_t>(e)];
        if (j >= i) sum += values[e] * x[at(row_order_, j)];
      }
      y[at(row_order_, i)] = sum;
    }
  }

 private:
  struct TransposedSweeps {
    ScheduledSweep lower;  // Uᵀ
    ScheduledSweep upper;  // Lᵀ
  };

  [[nodiscard]] TransposedSweeps make_transposed() const {
    const Transposed turned = transpose(matrix_.view());
    TransposedSweeps sweeps{make_sweep(turned.view(), turned.source_entry.data(), Triangle::lower),
                            make_sweep(turned.view(), turned.source_entry.data(), Triangle::upper)};
    sweeps.upper.follow(sweeps.lower);
    return sweeps;
  }

  void run_attempt(const double* values, const kernels::DiagonalShift& shift, const kernels::PivotRule& rule) override {
    kernel_.factor(values, matrix_.source_entry.data(), shift, rule, findings_);
    info.diagonal_only = kernel_.only_diagonal_changed();
  }
  void load_sweeps() override {
    lower_.load(kernel_.values().data());
    upper_.load(kernel_.values().data());
    transposed_loaded_ = false;
  }
  [[nodiscard]] double pivot(Index i) const override { return kernel_.pivot(i); }

  void apply_one(Apply part, const double* b, double* x) override {
    const double* const inverse = kernel_.inverse_pivots().data();
    const auto pivots = [inverse](Index i, double value) { return value * inverse[i]; };
    if (part == Apply::full) {
      both(lower_, kUnit, row_order_, b, upper_, kUnit, pivots, col_order_, x);
      return;
    }
    prepare_transposed();
    both(transposed_->lower, pivots, col_order_, b, transposed_->upper, kUnit, kUnit, row_order_, x);
  }

  void update_info() override { finish_info(lower_, upper_); }

  void apply_columns(Apply part, const Columns& columns) override {
    const double* const inverse = kernel_.inverse_pivots().data();
    const auto pivots = [inverse](Index i, double value) { return value * inverse[i]; };
    with_width(columns.count, [&]<int Width>() {
      if (part == Apply::full) {
        both_columns<Width>(lower_, kUnit, row_order_, columns, upper_, kUnit, pivots, col_order_);
        return;
      }
      prepare_transposed();
      both_columns<Width>(transposed_->lower, pivots, col_order_, columns, transposed_->upper, kUnit, kUnit,
                          row_order_);
    });
  }

  void prepare_transposed() {
    if (!transposed_) transposed_ = std::make_unique<TransposedSweeps>(make_transposed());
    if (transposed_loaded_) return;
    transposed_->lower.load(kernel_.values().data());
    transposed_->upper.load(kernel_.values().data());
    transposed_loaded_ = true;
  }

  kernels::HostIlu0 kernel_;
  ScheduledSweep lower_;
  ScheduledSweep upper_;
  std::unique_ptr<TransposedSweeps> transposed_;  // from the first transposed application on
  bool transposed_loaded_ = false;
};

}  // namespace

std::unique_ptr<Factorization::Impl> make_ilu(const Context& context, const CsrPattern& pattern,
                                              const FactorOptions& options, std::span<const Index> row_order,
                                              std::span<const Index> col_order) {
  return std::make_unique<HostIluFactorization>(context, pattern, options, row_order, col_order);
}

}  // namespace taskdag::host
