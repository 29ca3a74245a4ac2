#include <algorithm>
#include <utility>
#include <vector>

#include "context/state.hpp"
#include "dag/transpose.hpp"
#include "kernels/sor/row.hpp"
#include "solver/checks.hpp"
#include "solver/host/sweeps.hpp"
#include "solver/impl.hpp"
#include "taskdag/block_ordering.hpp"

namespace taskdag::host {
namespace {

using kernels::ScheduledSweep;
using kernels::SorRow;

/// Works in the renumbered matrix; in its natural order on x itself.
class HostSor final : public Sor::Impl {
 public:
  HostSor(const Context& context, const CsrPattern& pattern, const SorOptions& options, std::span<const Index> order)
      : state_(context.state()),
        omega_(options.omega),
        shift_(options.shift),
        order_(order.begin(), order.end()),
        matrix_(checked(permute_pattern(pattern, order, order), options.blocks.get())),
        diagonal_entry_(diagonal_entries(matrix_.view(), {order_})),
        lower_(make(request_of(options, context), options.blocks.get(), Triangle::lower)),
        upper_(make(request_of(options, context), options.blocks.get(), Triangle::upper)),
        values_(matrix_.col_indices.size()),
        diagonal_(static_cast<std::size_t>(pattern.rows)),
        rhs_(diagonal_.size()),
        old_(diagonal_.size()),
        work_(order_.empty() ? 0 : diagonal_.size()) {
    upper_.follow(lower_);
    info.rows = pattern.rows;
    info.entries = matrix_.view().entries();
    info.lower_levels = lower_.level_count().levels;
    info.upper_levels = upper_.level_count().levels;
    info.lower_threads = lower_.threads();
    info.upper_threads = upper_.threads();
    info.lower_schedule = lower_.schedule();
    info.upper_schedule = upper_.schedule();
    const auto rows = static_cast<std::int64_t>(info.rows);
    info.bytes = lower_.bytes() + upper_.bytes() +
                 static_cast<std::int64_t>(sizeof(double) + sizeof(Index) + sizeof(Offset)) * info.entries +
                 static_cast<std::int64_t>(4 * sizeof(double) + 2 * sizeof(Offset) + sizeof(Index)) * rows;
  }

  FactorStatus update_values(const double* values, MemorySpace space, Stream) override {
    require_host_memory(space);
    for (std::size_t e = 0; e < values_.size(); ++e) {
      values_[e] = values[static_cast<std::size_t>(matrix_.source_entry[e])];
    }
    lower_.load(values_.data());
    upper_.load(values_.data());
    FactorStatus status;
    for (std::size_t i = 0; i < diagonal_.size(); ++i) {
      const double entry = values_[static_cast<std::size_t>(diagonal_entry_[i])];
      diagonal_[i] = kernels::shifted_diagonal(entry, omega_, shift_);
      note(static_cast<Index>(i), diagonal_[i], status);
    }
    return status;
  }

  void iterate(SorSweep sweep, int iterations, SorStart start, const double* b, double* x, MemorySpace space,
               Stream) override {
    require_host_memory(space);
    double* const work = order_.empty() ? x : work_.data();
    if (!order_.empty() && start == SorStart::given) {
      for (std::size_t i = 0; i < work_.size(); ++i) work[i] = x[order_[i]];
    }
    bool from_zero = start == SorStart::zero;
    for (int k = 0; k < iterations; ++k) {
      if (sweep == SorSweep::symmetric) {
        both(b, work, from_zero, k > 0);
      } else {
        one(sweep == SorSweep::forward ? Triangle::lower : Triangle::upper, b, work, from_zero);
      }
      from_zero = false;
    }
    for (std::size_t i = 0; i < work_.size(); ++i) x[order_[i]] = work[i];
  }

  void multiply_upper(const double* x, double* y, MemorySpace, Stream) override {
    for (Index i = 0; i < matrix_.rows; ++i) {
      const auto at = static_cast<std::size_t>(i);
      double sum = x[user_row(i)] / row(i).inverse();
      for (Offset e = diagonal_entry_[at] + 1; e < matrix_.row_offsets[at + 1]; ++e) {
        const auto entry = static_cast<std::size_t>(e);
        sum += values_[entry] * x[user_row(matrix_.col_indices[entry])];
      }
      y[user_row(i)] = sum;
    }
  }
  void pivots(double* e, MemorySpace, Stream) const override {
    for (Index i = 0; i < matrix_.rows; ++i) e[user_row(i)] = 1.0 / row(i).inverse();
  }

  void set_diagonal(const double* d, MemorySpace, Stream) override {
    if (middle_.empty()) info.bytes += static_cast<std::int64_t>(2 * sizeof(double)) * info.rows;
    middle_.resize(diagonal_.size());
    upper_result_.resize(diagonal_.size());
    for (Index i = 0; i < matrix_.rows; ++i) {
      middle_[static_cast<std::size_t>(i)] = 2.0 / row(i).inverse() - d[user_row(i)];
    }
  }
  void multiply_transformed(const double* v, double* y, MemorySpace, Stream) override { product(v, y); }

  SolveOutcome outcome() override {
    return std::exchange(finite_, true) ? SolveOutcome::success : SolveOutcome::non_finite;
  }
  [[nodiscard]] std::vector<EngineRun> engine_runs() const override {
    std::vector<EngineRun> runs;
    add_runs("", lower_, upper_, runs);
    return runs;
  }
  void check_space(MemorySpace space) const override { require_host_memory(space); }
  void refuse_capture(Stream, const char*) const override {}

 private:
  static MappedPattern checked(MappedPattern matrix, const RowBlocks* blocks) {
    if (blocks == nullptr) return matrix;
    if (const auto fault = find_fault(*blocks, matrix.view())) throw InvalidInput("SorOptions::blocks: " + *fault);
    return matrix;
  }
  [[nodiscard]] ScheduledSweep make(const ScheduleRequest& request, const RowBlocks* blocks, Triangle triangle) const {
    return make_sweep(request, blocks, matrix_.view(), nullptr, triangle, *state_->pool);
  }

  static void note(Index row, double diagonal, FactorStatus& status) {
    if (diagonal == 0.0) {
      status.last_row = row;
      if (status.ok()) status.first_row = row;
      if (status.ok()) status.outcome = FactorOutcome::zero_pivot;
    } else if (!is_finite(diagonal) && status.ok()) {
      status.outcome = FactorOutcome::non_finite;
      status.first_row = row;
    }
  }

  [[nodiscard]] SorRow row(Index i) const { return {diagonal_[static_cast<std::size_t>(i)], omega_}; }
  [[nodiscard]] Index user_row(Index i) const { return order_.empty() ? i : order_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] auto pivot() const {
    return [this](Index i, double value) { return value * row(i).inverse(); };
  }

  /// The right-hand side of a sweep over `triangle` that starts from old_, whatever was before.
  [[nodiscard]] double start_row(Index i, Triangle triangle, const double* b) const {
    const auto at = static_cast<std::size_t>(i);
    const Offset diagonal = diagonal_entry_[at];
    const Offset first = triangle == Triangle::lower ? diagonal + 1 : matrix_.row_offsets[at];
    const Offset last = triangle == Triangle::lower ? matrix_.row_offsets[at + 1] : diagonal;
    return kernels::subtract_row(row(i).start(b[user_row(i)], old_[at]), matrix_.col_indices.data() + first,
                                 values_.data() + first, last - first, old_.data());
  }

  void keep_old(const double* work) { std::copy(work, work + old_.size(), old_.begin()); }

  void one(Triangle triangle, const double* b, double* work, bool from_zero) {
    ScheduledSweep& sweep = triangle == Triangle::lower ? lower_ : upper_;
    const auto nothing = [](Index, double) {};
    if (from_zero) {
      finite_ &= sweep.run(
          work, [&](Index i) { return b[user_row(i)]; }, pivot(), nothing);
      return;
    }
    keep_old(work);
    finite_ &= sweep.run(
        work, [&](Index i) { return start_row(i, triangle, b); }, pivot(), nothing);
  }

  /// `continues`: the sweep before was the backward one of the iteration before, so its right-hand sides are known.
  void both(const double* b, double* work, bool from_zero, bool continues) {
    double* const rhs = rhs_.data();
    const auto keep = [rhs](Index i, double value) { return rhs[i] = value; };
    const auto next = [this, b, work, rhs, keep](Index i) {
      return keep(i, row(i).next(b[user_row(i)], rhs[i], work[i]));
    };
    if (continues) {
      run_both(work, next, next);
    } else if (from_zero) {
      run_both(
          work, [this, b, keep](Index i) { return keep(i, b[user_row(i)]); }, next);
    } else {
      keep_old(work);
      run_both(
          work, [this, b, keep](Index i) { return keep(i, start_row(i, Triangle::lower, b)); }, next);
    }
  }

  /// The passes over vectors between the halves ride in the rows of the sweeps.
  void product(const double* v, double* y) {
    double* const u = upper_result_.data();
    const double* const middle = middle_.data();
    finite_ &= upper_.run(
        u, [&](Index i) { return v[user_row(i)]; }, pivot(), [](Index, double) {});
    finite_ &= lower_.run(
        old_.data(), [&](Index i) { return v[user_row(i)] - middle[i] * u[i]; }, pivot(),
        [&](Index i, double value) { y[user_row(i)] = u[i] + value; });
  }

  template <class FirstRhs, class SecondRhs>
  void run_both(double* work, const FirstRhs& first, const SecondRhs& second) {
    const auto nothing = [](Index, double) {};
    if (const auto finite = upper_.run_both(lower_, work, first, pivot(), second, pivot(), nothing)) {
      finite_ &= *finite;
      return;
    }
    lower_.run(work, first, pivot(), nothing);
    finite_ &= upper_.run(work, second, pivot(), nothing);
  }

  std::shared_ptr<Context::State> state_;
  double omega_;
  double shift_;
  std::vector<Index> order_;  ///< new → old; empty: the same
  MappedPattern matrix_;
  std::vector<Offset> diagonal_entry_;
  ScheduledSweep lower_;
  ScheduledSweep upper_;
  std::vector<double> values_;  ///< of matrix_: for sums over the triangle that a sweep does not solve
  std::vector<double> diagonal_;
  std::vector<double> rhs_;  ///< right-hand sides of the last sweep of a symmetric run, without its own triangle
  std::vector<double> old_;
  std::vector<double> work_;
  std::vector<double> middle_;        ///< 2 E − D by row, from the first set_diagonal() on; so is the next
  std::vector<double> upper_result_;  ///< (E + U)⁻¹ v
  bool finite_ = true;
};

}  // namespace

std::unique_ptr<Sor::Impl> make_sor(const Context& context, const CsrPattern& pattern, const SorOptions& options,
                                    std::span<const Index> order) {
  return std::make_unique<HostSor>(context, pattern, options, order);
}

}  // namespace taskdag::host
