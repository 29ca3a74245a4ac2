/// \file
/// Incomplete LU factorisations on host threads.
#include "kernels/factor/ilu/host.hpp"
#include "solver/host/factorization.hpp"

namespace taskdag::host {

namespace {

class HostIluFactorization final : public HostFactorization {
 public:
  HostIluFactorization(const Context& context, const CsrPattern& pattern, const FactorOptions& options,
                       std::span<const Index> row_order, std::span<const Index> col_order)
      : HostFactorization(context, pattern, options, row_order, col_order),
        kernel_(take_pattern(), *state_->pool, options.diagonal_only, factor_run()),
        lower_(make_lower()),
        upper_(make_upper()) {
    upper_.follow(lower_);
    update_info();
  }

  void add_levels() override { add_levels_of(lower_, upper_); }

  [[nodiscard]] ApplicationView application() const override {
    return {{pattern().lower(), Triangle::lower, kernel_.lower_values(), nullptr, nullptr},
            {pattern().upper(), Triangle::upper, kernel_.upper_values(), nullptr, kernel_.inverse_pivots()}};
  }

  [[nodiscard]] CsrMatrix copy_factor() const override {
    return join(pattern(), kernel_.lower_values(), kernel_.upper_values(), kernel_.pivots());
  }

  [[nodiscard]] std::vector<EngineRun> engine_runs() const override {
    std::vector<EngineRun> runs;
    add_run(kernel_.program(), runs);
    add_runs("", lower_, upper_, runs);
    if (transposed_) add_runs("transposed ", transposed_->lower, transposed_->upper, runs);
    return runs;
  }

  void solve_lower(const double* b, double* x, MemorySpace, Stream) override {
    run(lower_, {.rhs = in_order<const double>({b}, row_order_),
                 .result = in_order<double>({x}, row_order_, kernel_.inverse_pivots())});
  }
  void solve_upper(const double* b, double* x, MemorySpace, Stream) override {
    run(upper_, {.rhs = in_order<const double>({b}, row_order_),
                 .pivot = kernel_.inverse_pivots(),
                 .result = in_order<double>({x}, row_order_)});
  }
  void multiply_transformed(const double* v, double* y, MemorySpace, Stream) override {
    const double* const inverse = kernel_.inverse_pivots();
    as_stored([&]<class Value>() {
      product<Value>(
          lower_, inverse, upper_, kUnit, [inverse](Index i, double value) { return value * inverse[i]; }, v, y);
    });
  }
  void multiply_upper(const double* x, double* y, MemorySpace, Stream) override {
    const double* const values = kernel_.upper_values();
    const CsrPattern upper = pattern().upper();
    for (Index i = 0; i < info.rows; ++i) {
      double sum = 0.0;
      sum += pivot(i) * x[at(row_order_, i)];
      for (Offset e = upper.row_offsets[i]; e < upper.row_offsets[i + 1]; ++e) {
        sum += values[e] * x[at(row_order_, upper.col_indices[e])];
      }
      y[at(row_order_, i)] = sum;
    }
  }

 private:
  struct TransposedSweeps {
    Transposed upper_turned;
    Transposed lower_turned;
    ScheduledSweep lower;  // Uᵀ
    ScheduledSweep upper;  // Lᵀ

    explicit TransposedSweeps(const HostIluFactorization& of)
        : upper_turned(transpose(of.pattern().upper())),
          lower_turned(transpose(of.pattern().lower())),
          lower(of.make_sweep(upper_turned.view(), upper_turned.source_entry.data(), Triangle::lower)),
          upper(of.make_sweep(lower_turned.view(), lower_turned.source_entry.data(), Triangle::upper)) {
      upper.follow(lower);
    }
  };

  void run_attempt(const double* values, const kernels::DiagonalShift& shift, const kernels::PivotRule& rule) override {
    kernel_.factor(values, source_, shift, rule, findings_);
    info.diagonal_only = kernel_.only_diagonal_changed();
  }
  ScheduledSweep make_lower() const {
    return make_sweep(kernel_.pattern().lower(), nullptr, Triangle::lower, kernel_.plan());
  }
  ScheduledSweep make_upper() const { return make_sweep(kernel_.pattern().upper(), nullptr, Triangle::upper); }

  /// The second factor as sweeps take it: in double D·U, in single the unit U, whose right-hand side is scaled.
  /// `loaded` is called with its values.
  template <class Loaded>
  void with_upper_values(const Loaded& loaded) const {
    if (!single()) {
      loaded(kernel_.upper_values());
      return;
    }
    loaded(unit_values(pattern().upper(), kernel_.upper_values(), kernel_.inverse_pivots()).get());
  }
  void load_sweeps() override {
    lower_.load(kernel_.lower_values());
    with_upper_values([&](const double* values) { upper_.load(values); });
    transposed_loaded_ = false;
  }
  [[nodiscard]] FoundLoss find_loss() const override {
    const double* const inverse = kernel_.inverse_pivots();
    const FoundLoss lower = host::find_loss(pattern().lower(), kernel_.lower_values(), inverse, Triangle::lower);
    FoundLoss upper;
    with_upper_values(
        [&](const double* unit) { upper = host::find_loss(pattern().upper(), unit, inverse, Triangle::upper); });
    const bool above =
        upper.loss != PrecisionLoss::none && (lower.loss == PrecisionLoss::none || upper.row < lower.row);
    return above ? upper : lower;
  }
  void remake_sweeps() override {
    ScheduledSweep lower = make_lower();
    ScheduledSweep upper = make_upper();
    transposed_.reset();
    lower_ = std::move(lower);
    upper_ = std::move(upper);
    upper_.follow(lower_);
    update_info();
  }
  [[nodiscard]] const SplitPattern& pattern() const override { return kernel_.pattern(); }
  [[nodiscard]] const double* factor_pivots() const override { return kernel_.pivots(); }

  void apply_one(Apply operation, const double* b, double* x) override {
    const double* const inverse = kernel_.inverse_pivots();
    const auto pivots = [inverse](Index i, double value) { return value * inverse[i]; };
    if (operation != Apply::full) prepare_transposed();
    if (single()) {
      if (operation == Apply::full) {
        both<float>(lower_, kUnit, row_order_, b, upper_, pivots, kUnit, col_order_, x);
      } else {
        both<float>(transposed_->lower, kUnit, col_order_, b, transposed_->upper, pivots, kUnit, row_order_, x);
      }
    } else if (operation == Apply::full) {
      both<double>(lower_, kUnit, row_order_, b, upper_, kUnit, pivots, col_order_, x);
    } else {
      both<double>(transposed_->lower, pivots, col_order_, b, transposed_->upper, kUnit, kUnit, row_order_, x);
    }
  }

  void update_info() final { finish_info(pattern(), kernel_.bytes(), lower_, upper_); }

  void apply_columns(Apply operation, const ColumnPass& columns) override {
    const double* const pivots = kernel_.inverse_pivots();
    const double* const scale = single() ? pivots : nullptr;  // the second right-hand side, where pivots do not
    const double* const sweep_pivots = single() ? nullptr : pivots;
    if (operation == Apply::full) {
      both_columns(lower_, nullptr, row_order_, columns, upper_, scale, sweep_pivots, col_order_);
    } else {
      prepare_transposed();
      both_columns(transposed_->lower, sweep_pivots, col_order_, columns, transposed_->upper, scale, nullptr,
                   row_order_);
    }
  }

  void prepare_transposed() {
    if (!transposed_) transposed_ = std::make_unique<TransposedSweeps>(*this);
    if (transposed_loaded_) return;
    with_upper_values([&](const double* values) { transposed_->lower.load(values); });
    transposed_->upper.load(kernel_.lower_values());
    transposed_loaded_ = true;
  }

  kernels::HostIlu0 kernel_;
  ScheduledSweep lower_;
  ScheduledSweep upper_;
  std::unique_ptr<TransposedSweeps> transposed_;  // from the first transposed application on
  bool transposed_loaded_ = false;
};

}  // namespace

std::unique_ptr<HostFactorization> make_ilu(const Context& context, const CsrPattern& pattern,
                                            const FactorOptions& options, std::span<const Index> row_order,
                                            std::span<const Index> col_order) {
  return std::make_unique<HostIluFactorization>(context, pattern, options, row_order, col_order);
}

}  // namespace taskdag::host
