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
        turned_(transpose(matrix_.view())),
        kernel_(matrix_.view(), *state_->pool, options.diagonal_only, factor_run()),
        lower_(make_sweep(turned_.view(), turned_.source_entry.data(), Triangle::lower, kernel_.plan())),
        upper_(make_sweep(matrix_.view(), nullptr, Triangle::upper)) {
    upper_.follow(lower_);
    turned_ = {};
    finish_info(lower_, upper_);
  }

  [[nodiscard]] CsrMatrix copy_factor() const override {
    return {matrix_.rows, matrix_.cols, matrix_.row_offsets, matrix_.col_indices, kernel_.values()};
  }

  [[nodiscard]] std::vector<EngineRun> engine_runs() const override {
    std::vector<EngineRun> runs;
    add_run(kernel_.program(), runs);
    add_runs("", lower_, upper_, runs);
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
        work_.data(), [&](Index i) { return b[at(row_order_, i)] * inverse[i]; }, kUnit,
        [&](Index i, double value) { x[at(row_order_, i)] = value; });
  }
  void multiply_upper(const double* x, double* y, MemorySpace, Stream) override {
    const double* const values = kernel_.values().data();
    for (Index i = 0; i < matrix_.rows; ++i) {
      double sum = x[at(row_order_, i)];  // U has a unit diagonal
      for (Offset e = matrix_.row_offsets[static_cast<std::size_t>(i)] + 1;
           e < matrix_.row_offsets[static_cast<std::size_t>(i) + 1]; ++e) {
        sum += values[e] * x[at(row_order_, matrix_.col_indices[static_cast<std::size_t>(e)])];
      }
      y[at(row_order_, i)] = pivot(i) * sum;
    }
  }

 private:
  void run_attempt(const double* values, const kernels::DiagonalShift& shift, const kernels::PivotRule& rule) override {
    kernel_.factor(values, matrix_.source_entry.data(), shift, rule, findings_);
    info.diagonal_only = kernel_.only_diagonal_changed();
  }
  void load_sweeps() override {
    kernel_.scale();
    lower_.load(kernel_.values().data());
    upper_.load(kernel_.values().data());
    negative_pivot_ = false;
    for (Index i = 0; i < matrix_.rows; ++i) negative_pivot_ = negative_pivot_ || pivot(i) < 0;
  }
  void check_part(Apply part) const override {
    if (negative_pivot_ && (part == Apply::symmetric_left || part == Apply::symmetric_right)) {
      throw InvalidInput("a symmetric part of the factor needs pivots that are not negative; one is");
    }
  }
  [[nodiscard]] double pivot(Index i) const override { return kernel_.pivot(i); }

  void apply_one(Apply part, const double* b, double* x) override {
    const double* const inverse = kernel_.inverse_pivots().data();
    const auto scale = [inverse](Index i, double value) { return value * inverse[i]; };
    const auto nothing = [](Index, double) {};
    const auto rows = work_.size();
    double* const w = work_.data();
    if (part == Apply::symmetric_left) {
      gather(row_order_, b);
      finite_ &= lower_.run(
          w, [w](Index i) { return w[i]; }, kUnit, nothing);
      for (std::size_t i = 0; i < rows; ++i) x[i] = w[i] * std::sqrt(inverse[i]);
    } else if (part == Apply::symmetric_right) {
      for (std::size_t i = 0; i < rows; ++i) w[i] = b[i] * std::sqrt(inverse[i]);
      const Index* const order = row_order_.empty() ? nullptr : row_order_.data();
      finite_ &= upper_.run(
          w, [w](Index i) { return w[i]; }, kUnit,
          [order, x](Index i, double value) { x[order == nullptr ? i : order[i]] = value; });
    } else {  // M is symmetric
      both(lower_, kUnit, row_order_, b, upper_, scale, kUnit, row_order_, x);
    }
  }

  void update_info() override { finish_info(lower_, upper_); }

  void apply_columns(Apply part, const Columns& columns) override {
    const double* const inverse = kernel_.inverse_pivots().data();
    const auto root = [inverse](Index i) { return std::sqrt(inverse[i]); };
    const auto scale = [inverse](Index i, double value) { return value * inverse[i]; };
    const auto nothing = [](Index, const auto&) {};
    with_width(columns.count, [&]<int Width>() {
      double* const w = columns_work<Width>();
      if (part == Apply::symmetric_left) {
        finite_ &= lower_.run_columns<Width>(
            w, [&](Index i) { return columns.read<Width>(at(row_order_, i)); }, kUnit, nothing);
        for (Index i = 0; i < matrix_.rows; ++i) {
          columns.write<Width>(i, scaled_row<Width>(w, i, [&](double value) { return value * root(i); }));
        }
      } else if (part == Apply::symmetric_right) {
        finite_ &= upper_.run_columns<Width>(
            w,
            [&](Index i) {
              auto values = columns.read<Width>(i);
              for (double& value : values.at) value *= root(i);
              return values;
            },
            kUnit, nothing);
        for (Index i = 0; i < matrix_.rows; ++i) {
          columns.write<Width>(at(row_order_, i), scaled_row<Width>(w, i, [](double value) { return value; }));
        }
      } else {
        both_columns<Width>(lower_, kUnit, row_order_, columns, upper_, scale, kUnit, row_order_);
      }
    });
  }

  Transposed turned_;  // during construction only
  kernels::HostIc0 kernel_;
  ScheduledSweep lower_;  // Uᵀ
  ScheduledSweep upper_;
  bool negative_pivot_ = false;
};

}  // namespace

std::unique_ptr<Factorization::Impl> make_ic(const Context& context, const CsrPattern& pattern,
                                             const FactorOptions& options, std::span<const Index> order) {
  return std::make_unique<HostIcFactorization>(context, pattern, options, order);
}

}  // namespace taskdag::host
