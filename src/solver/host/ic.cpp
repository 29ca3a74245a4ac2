/// \file
/// Incomplete Cholesky factorisations on host threads.
#include <algorithm>
#include <cmath>

#include "kernels/factor/ic/host.hpp"
#include "solver/host/factorization.hpp"
#include "taskdag/error.hpp"

namespace taskdag::host {

namespace {

class HostIcFactorization final : public HostFactorization {
 public:
  HostIcFactorization(const Context& context, const CsrPattern& pattern, const FactorOptions& options,
                      std::span<const Index> order)
      : HostFactorization(context, pattern, options, order, order),
        kernel_(take_pattern(), *state_->pool, options.diagonal_only, factor_run()),
        lower_(make_lower()),
        upper_(make_upper()) {
    upper_.follow(lower_);
    update_info();
  }

  void add_levels() override { add_levels_of(lower_, upper_); }

  // The backward sweep with D U: its pivots make it U⁻¹ D⁻¹.
  [[nodiscard]] ApplicationView application() const override {
    return {{pattern().lower(), Triangle::lower, kernel_.lower_values(), nullptr, nullptr},
            {pattern().upper(), Triangle::upper, kernel_.upper_values(), kernel_.pivots(), kernel_.inverse_pivots()}};
  }

  [[nodiscard]] CsrMatrix copy_factor() const override {
    return join(pattern(), nullptr, kernel_.upper_values(), kernel_.pivots());
  }

  [[nodiscard]] std::vector<EngineRun> engine_runs() const override {
    std::vector<EngineRun> runs;
    add_run(kernel_.program(), runs);
    add_runs("", lower_, upper_, runs);
    return runs;
  }

  void solve_lower(const double* b, double* x, MemorySpace, Stream) override {
    run(lower_, {.rhs = in_order<const double>({b}, row_order_),
                 .result = in_order<double>({x}, row_order_, kernel_.inverse_pivots())});
  }
  void solve_upper(const double* b, double* x, MemorySpace, Stream) override {
    run(upper_, {.rhs = in_order<const double>({b}, row_order_, kernel_.inverse_pivots()),
                 .result = in_order<double>({x}, row_order_)});
  }
  void multiply_transformed(const double* v, double* y, MemorySpace, Stream) override {
    const double* const inverse = kernel_.inverse_pivots();
    as_stored([&]<class Value>() {
      product<Value>(
          lower_, inverse, upper_, [inverse](Index i, double value) { return value * inverse[i]; }, kUnit, v, y);
    });
  }
  void multiply_upper(const double* x, double* y, MemorySpace, Stream) override {
    const double* const values = kernel_.upper_values();
    const CsrPattern upper = pattern().upper();
    for (Index i = 0; i < info.rows; ++i) {
      double sum = x[at(row_order_, i)];  // U has a unit diagonal
      for (Offset e = upper.row_offsets[i]; e < upper.row_offsets[i + 1]; ++e) {
        sum += values[e] * x[at(row_order_, upper.col_indices[e])];
      }
      y[at(row_order_, i)] = pivot(i) * sum;
    }
  }

 private:
  void run_attempt(const double* values, const kernels::DiagonalShift& shift, const kernels::PivotRule& rule) override {
    kernel_.factor(values, source_, shift, rule, findings_);
    info.diagonal_only = kernel_.only_diagonal_changed();
  }
  void finish_attempts() override { kernel_.scale(); }
  ScheduledSweep make_lower() const { return make_sweep(pattern().lower(), nullptr, Triangle::lower, kernel_.plan()); }
  ScheduledSweep make_upper() const { return make_sweep(pattern().upper(), nullptr, Triangle::upper); }
  [[nodiscard]] FoundLoss find_loss() const override {
    const double* const inverse = kernel_.inverse_pivots();
    const CsrPattern upper = pattern().upper();
    return host::find_loss(upper, kernel_.upper_values(), inverse, Triangle::upper);
  }
  void remake_sweeps() override {
    ScheduledSweep lower = make_lower();
    ScheduledSweep upper = make_upper();
    lower_ = std::move(lower);
    upper_ = std::move(upper);
    upper_.follow(lower_);
    update_info();
  }
  void load_sweeps() override {
    lower_.load(kernel_.lower_values());
    upper_.load(kernel_.upper_values());
    const double* const pivot = kernel_.pivots();
    negative_pivot_ = std::any_of(pivot, pivot + info.rows, [](double value) { return value < 0; });
  }
  void check_operation(Apply operation) const override {
    if (negative_pivot_ && (operation == Apply::symmetric_left || operation == Apply::symmetric_right)) {
      throw InvalidInput("a symmetric part of the factor needs pivots that are not negative; one is");
    }
  }
  [[nodiscard]] const SplitPattern& pattern() const override { return kernel_.pattern(); }
  [[nodiscard]] const double* factor_pivots() const override { return kernel_.pivots(); }

  void apply_one(Apply operation, const double* b, double* x) override {
    if (operation == Apply::symmetric_left || operation == Apply::symmetric_right) {
      apply_columns(operation, {.rhs = {.values = b}, .result = {.values = x}});
      return;
    }
    const double* const inverse = kernel_.inverse_pivots();
    const auto scale = [inverse](Index i, double value) { return value * inverse[i]; };
    // M is symmetric.
    as_stored([&]<class Value>() { both<Value>(lower_, kUnit, row_order_, b, upper_, scale, kUnit, row_order_, x); });
  }

  void update_info() final { finish_info(pattern(), kernel_.bytes(), lower_, upper_); }

  void apply_columns(Apply operation, const ColumnPass& columns) override {
    const double* const inverse = kernel_.inverse_pivots();
    if (operation == Apply::symmetric_left) {
      const std::vector<double> root = inverse_roots();
      run_then_write(lower_, {.count = columns.count,
                              .rhs = in_order(columns.rhs, row_order_),
                              .result = in_order(columns.result, {}, root.data())});
    } else if (operation == Apply::symmetric_right) {
      const std::vector<double> root = inverse_roots();
      run_then_write(upper_, {.count = columns.count,
                              .rhs = in_order(columns.rhs, {}, root.data()),
                              .result = in_order(columns.result, row_order_)});
    } else {
      both_columns(lower_, nullptr, row_order_, columns, upper_, inverse, nullptr, row_order_);
    }
  }
  [[nodiscard]] std::vector<double> inverse_roots() const {
    std::vector<double> root(taskdag::at(info.rows));
    const double* const inverse = kernel_.inverse_pivots();
    for (std::size_t i = 0; i < root.size(); ++i) root[i] = std::sqrt(inverse[i]);
    return root;
  }

  kernels::HostIc0 kernel_;
  ScheduledSweep lower_;  // Uᵀ
  ScheduledSweep upper_;
  bool negative_pivot_ = false;
};

}  // namespace

std::unique_ptr<HostFactorization> make_ic(const Context& context, const CsrPattern& pattern,
                                           const FactorOptions& options, std::span<const Index> order) {
  return std::make_unique<HostIcFactorization>(context, pattern, options, order);
}

}  // namespace taskdag::host
