/// \file
/// What the incomplete factorisations on host threads have in common.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "context/state.hpp"
#include "dag/split.hpp"
#include "dag/transpose.hpp"
#include "kernels/factor/fill/levels.hpp"
#include "kernels/factor/host.hpp"
#include "kernels/factor/pivot.hpp"
#include "kernels/factor/state.hpp"
#include "kernels/rows/row_program.hpp"
#include "kernels/sptrsv/host/scheduled_sweep.hpp"
#include "solver/checks.hpp"
#include "solver/choice/request.hpp"
#include "solver/host/dominance.hpp"
#include "solver/host/precision.hpp"
#include "solver/host/sweeps.hpp"
#include "solver/impl.hpp"

namespace taskdag::host {

using kernels::ColumnPass;
using kernels::ScheduledSweep;

/// One of the two sweeps of an application, x_i = (rhs_i − Σ_e value_e x_column) · pivot_i.
struct SweepView {
  CsrPattern pattern;  ///< of the strict triangle alone
  Triangle triangle = Triangle::lower;
  const double* values = nullptr;          ///< by entry; without meaning before factor(), as the next two
  const double* row_factor = nullptr;      ///< by row, of its entries; null: 1
  const double* inverse_pivots = nullptr;  ///< by row; null: 1
};
/// Both, the first one first; the arrays stay where they are while the factorisation lives.
struct ApplicationView {
  SweepView forward;
  SweepView backward;
};

class HostFactorization : public Factorization::Impl {
 public:
  /// In double.
  [[nodiscard]] virtual ApplicationView application() const = 0;
  void set_pivoting(double shift_amount, double zero_pivot) final {
    options_.shift_amount = shift_amount;
    options_.zero_pivot = zero_pivot;
  }
  FactorStatus factor(const double* values, MemorySpace space, Stream) final;
  void apply(Apply operation, Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx,
             MemorySpace space, Stream) final;
  double growth(const double* values, MemorySpace space, Stream) final;
  void pivots(double* e, MemorySpace, Stream) const final {
    const double* const pivot = factor_pivots();
    for (Index i = 0; i < info.rows; ++i) e[at(row_order_, i)] = pivot[i];
  }
  void set_diagonal(const double* d, MemorySpace, Stream, TransformScaling scaling) final {
    const std::size_t rows = taskdag::at(info.rows);
    root_.resize(scaling == TransformScaling::symmetric ? rows : 0);
    for (std::size_t i = 0; i < root_.size(); ++i) {
      const auto row = static_cast<Index>(i);
      if (!(pivot(row) > 0.0)) refuse_pivot(at(row_order_, row), pivot(row));
      root_[i] = std::sqrt(pivot(row));
    }
    middle_.resize(rows);
    lower_work_.resize(rows);
    for (Index i = 0; i < info.rows; ++i) middle_[taskdag::at(i)] = 2.0 * pivot(i) - d[at(row_order_, i)];
    update_info();
  }
  SolveOutcome outcome() final {
    return std::exchange(finite_, true) ? SolveOutcome::success : SolveOutcome::non_finite;
  }
  SolveOutcome outcome(Stream) final { return outcome(); }
  void check_space(MemorySpace space) const final { require_host_memory(space); }
  void refuse_capture(Stream, const char*) const final {}

 protected:
  HostFactorization(const Context& context, const CsrPattern& pattern, const FactorOptions& options,
                    std::span<const Index> row_order, std::span<const Index> col_order);

  static void add_run(const kernels::RowProgram* program, std::vector<EngineRun>& runs);

  /// What is factorised, for the kernel; of ic the upper triangle, and its transpose.
  SplitPattern take_pattern() { return std::move(split_); }

  void add_levels_of(const ScheduledSweep& lower, const ScheduledSweep& upper);
  /// `bytes`: of the kernel.
  void finish_info(const SplitPattern& pattern, std::int64_t bytes, const ScheduledSweep& lower,
                   const ScheduledSweep& upper);

  /// How the factorisation's program of the task engine is run; nothing where the factorisation is no program.
  [[nodiscard]] std::optional<engine::StaticOptions> factor_run() const {
    if (options_.factor_schedule == FactorSchedule::engine) return options_.run;
    return std::nullopt;
  }

  /// A sweep over `pattern`, a strict `triangle` that outlives it, as do `source` and the values that it will load, by
  /// the schedule that was asked for. `plan`: see ScheduledSweep.
  [[nodiscard]] ScheduledSweep make_sweep(const CsrPattern& pattern, const Offset* source, Triangle triangle,
                                          std::shared_ptr<const ThreadPlan> plan = nullptr) const;

  /// Splits the matrix as it is given: no order, no fill.
  void take_as_it_is(const CsrPattern& pattern);
  void take_rearranged(const CsrPattern& pattern);
  void check_blocks(const CsrPattern& pattern) const;
  [[nodiscard]] MappedPattern fill(const MappedPattern& matrix) const;

  virtual void run_attempt(const double* values, const kernels::DiagonalShift& shift,
                           const kernels::PivotRule& rule) = 0;
  /// After the last attempt.
  virtual void finish_attempts() {}
  virtual void load_sweeps() = 0;
  /// What of the factor does not fit into single precision, by the values of the last attempt.
  [[nodiscard]] virtual FoundLoss find_loss() const = 0;
  /// Makes the sweeps anew, as the request is now.
  virtual void remake_sweeps() = 0;
  /// Gives single precision up, for good, where the factor does not fit.
  void keep_double_if_needed();
  [[nodiscard]] bool single() const { return request_.precision == Precision::in_single; }
  virtual void check_operation(Apply) const {}
  virtual void apply_one(Apply operation, const double* b, double* x) = 0;
  /// `columns`: how many, where they lie and where their results belong, in the user's numbering.
  virtual void apply_columns(Apply operation, const ColumnPass& columns) = 0;
  virtual void update_info() = 0;
  [[nodiscard]] virtual const SplitPattern& pattern() const = 0;
  [[nodiscard]] virtual const double* factor_pivots() const = 0;  ///< by row
  [[nodiscard]] double pivot(Index i) const { return factor_pivots()[i]; }

  /// Calls run.template operator()<Value>() with the type in which sweeps store values.
  template <class Run>
  void as_stored(const Run& run) {
    single() ? run.template operator()<float>() : run.template operator()<double>();
  }

  /// y = (E + L)⁻¹ A (E + U)⁻¹ v: the passes over vectors between the halves ride in the rows of the sweeps. The upper
  /// half has pivot(i, scale(i, v_i) − …), the lower one E x for its result. Value: as in HostSweep::run(), here and in
  /// what follows.
  template <class Value, class Scale, class Pivot>
  void product(ScheduledSweep& lower, const double* inverse, ScheduledSweep& upper, const Scale& scale,
               const Pivot& pivot, const double* v, double* y) {
    double* const u = work_.get();
    const double* const middle = middle_.data();
    const double* const root = root_.empty() ? nullptr : root_.data();
    const auto scaled = [root](Index i, double value) { return root != nullptr ? root[i] * value : value; };
    const auto right = [&](Index i) { return scaled(i, v[at(row_order_, i)]); };
    finite_ &= upper.run<Value>(
        u, [&](Index i) { return scale(i, right(i)); }, pivot, [](Index, double) {});
    finite_ &= lower.run<Value>(
        lower_work_.data(), [&](Index i) { return right(i) - middle[i] * u[i]; },
        [](Index, double value) { return value; },
        [&](Index i, double value) { y[at(row_order_, i)] = scaled(i, u[i] + inverse[i] * value); });
  }

  /// x = (second ∘ first) b, where x_i of either sweep is scaled by its pivot function.
  template <class Value, class FirstPivot, class Rhs, class SecondPivot>
  void both(ScheduledSweep& first, const FirstPivot& first_pivot, const std::vector<Index>& in, const double* b,
            ScheduledSweep& second, const Rhs& scale, const SecondPivot& second_pivot, const std::vector<Index>& out,
            double* x) {
    const auto nothing = [](Index, double) {};
    const auto run = [&](double* work, const auto& rhs, const auto& emit) {
      const auto second_rhs = [work, &scale](Index i) { return scale(i, work[i]); };
      if (const auto finite = second.run_both<Value>(first, work, rhs, first_pivot, second_rhs, second_pivot, emit)) {
        finite_ &= *finite;
        return;
      }
      first.run<Value>(work, rhs, first_pivot, nothing);
      finite_ &= second.run<Value>(work, second_rhs, second_pivot, emit);
    };
    if (in.empty() && out.empty()) {  // the solution's array is the work space
      run(
          x, [b](Index i) { return b[i]; }, nothing);
    } else {
      run(
          work_.get(), [&, b](Index i) { return b[at(in, i)]; },
          [&, x](Index i, double value) { x[at(out, i)] = value; });
    }
  }

  /// A sweep over several columns, or over one where a form of its own is not worth its code.
  void run(ScheduledSweep& sweep, const ColumnPass& pass) {
    finite_ &= sweep.run_columns(columns_work(pass.count), pass);
  }

  /// The same where results belong to other rows than those whose right-hand sides they have: both may be one array, so
  /// nothing is written before all is read.
  void run_then_write(ScheduledSweep& sweep, const ColumnPass& pass) {
    run(sweep, {.count = pass.count, .rhs = pass.rhs, .pivot = pass.pivot, .result = {}});
    const Index width = kernels::column_width(pass.count);
    const double* const work = columns_work(pass.count);
    for (Index i = 0; i < info.rows; ++i) kernels::write_result(pass, i, work + taskdag::at(i) * taskdag::at(width));
  }

  /// As both(), for several columns at once. Null: of factors 1.
  void both_columns(ScheduledSweep& first, const double* first_pivot, const std::vector<Index>& in,
                    const ColumnPass& columns, ScheduledSweep& second, const double* scale, const double* second_pivot,
                    const std::vector<Index>& out) {
    first.run_columns(columns_work(columns.count),
                      {.count = columns.count, .rhs = in_order(columns.rhs, in), .pivot = first_pivot, .result = {}});
    run(second, {.count = columns.count,
                 .rhs = {.factor = scale},
                 .pivot = second_pivot,
                 .result = in_order(columns.result, out)});
  }

  /// Columns of the user's numbering as the rows of a sweep see them, row i times factor[i].
  template <class Number>
  static kernels::ColumnsAt<Number> in_order(const kernels::ColumnsAt<Number>& columns, const std::vector<Index>& order,
                                             const double* factor = nullptr) {
    return {columns.values, columns.stride, order.empty() ? nullptr : order.data(), factor};
  }

  static Index at(const std::vector<Index>& order, Index i) {
    return order.empty() ? i : order[static_cast<std::size_t>(i)];
  }

  /// Rows of column_width(count) doubles, of several columns made on first use.
  double* columns_work(Index count) {
    if (count == 1) return work_.get();
    const std::size_t size = taskdag::at(info.rows) * static_cast<std::size_t>(kernels::column_width(count));
    if (columns_work_.size() < size) columns_work_.resize(size);
    return columns_work_.data();
  }

  std::shared_ptr<Context::State> state_;
  FactorOptions options_;
  ScheduleRequest double_request_;  // the request for sweeps in double
  ScheduleRequest request_;
  std::vector<Index> row_order_;
  std::vector<Index> col_order_;
  SplitPattern split_;           // what is factorised, until the kernel takes it
  kernels::ValueSource source_;  // of its entries, among A's
  std::unique_ptr<Dominance> dominance_;
  kernels::Findings findings_;
  std::unique_ptr<double[]> work_;    // by row
  std::vector<double> columns_work_;  // from the first application to several columns on
  std::vector<double> middle_;        // 2 E − D by row, from the first set_diagonal() on; so is the next
  std::vector<double> lower_work_;
  std::vector<double> root_;  // E^½ by row, of symmetric scaling
  bool finite_ = true;
};

inline constexpr auto kUnit = [](Index, double value) { return value; };

std::unique_ptr<HostFactorization> make_ilu(const Context& context, const CsrPattern& pattern,
                                            const FactorOptions& options, std::span<const Index> row_order,
                                            std::span<const Index> col_order);
std::unique_ptr<HostFactorization> make_ic(const Context& context, const CsrPattern& pattern,
                                           const FactorOptions& options, std::span<const Index> order);

}  // namespace taskdag::host
