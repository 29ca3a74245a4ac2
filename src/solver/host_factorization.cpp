#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "dag/block_schedule.hpp"
#include "dag/transpose.hpp"
#include "kernels/ic0/host.hpp"
#include "kernels/ilu0/host.hpp"
#include "kernels/shift.hpp"
#include "kernels/sptrsv/host/scheduled_sweep.hpp"
#include "solver/checks.hpp"
#include "solver/fill.hpp"
#include "solver/host_schedule.hpp"
#include "solver/impl.hpp"
#include "solver/state.hpp"
#include "taskdag/block_ordering.hpp"

namespace taskdag::host {

namespace {

using kernels::ScheduledSweep;

/// What the positive_definite shift starts from: max over the rows of A of Σ|a_ij| − |a_ii| − a_ii.
class Dominance {
 public:
  explicit Dominance(const CsrPattern& pattern)
      : row_offsets_(pattern.row_offsets, pattern.row_offsets + (pattern.rows == 0 ? 0 : pattern.rows + 1)) {
    for (Index i = 0; i < pattern.rows; ++i) {
      const Index* const end = pattern.col_indices + pattern.row_offsets[i + 1];
      const Index* const found = std::lower_bound(pattern.col_indices + pattern.row_offsets[i], end, i);
      diagonal_.push_back(found != end && *found == i ? static_cast<Offset>(found - pattern.col_indices) : -1);
    }
  }

  [[nodiscard]] double operator()(const double* values) const {
    double largest = 0.0;
    for (std::size_t i = 0; i < diagonal_.size(); ++i) {
      const double d = diagonal_[i] < 0 ? 0.0 : values[diagonal_[i]];
      double sum = -std::abs(d) - d;
      for (Offset e = row_offsets_[i]; e < row_offsets_[i + 1]; ++e) sum += std::abs(values[e]);
      largest = std::max(largest, sum);
    }
    return largest;
  }

 private:
  std::vector<Offset> row_offsets_;
  std::vector<Offset> diagonal_;  // -1: absent
};

/// Right-hand sides and solutions, column by column.
struct Columns {
  Index count;
  const double* b;
  std::int64_t ldb;
  double* x;
  std::int64_t ldx;

  /// Row i of the right-hand sides; columns that are not there are 0.
  template <int Width>
  [[nodiscard]] kernels::ColumnValues<Width> read(Index i) const {
    kernels::ColumnValues<Width> values{};
    for (Index k = 0; k < count; ++k) values.at[k] = b[i + k * ldb];
    return values;
  }
  template <int Width>
  void write(Index i, const kernels::ColumnValues<Width>& values) const {
    for (Index k = 0; k < count; ++k) x[i + k * ldx] = values.at[k];
  }
};

/// Calls body.operator()<width>() for the narrowest form that has room for `count` columns.
template <class Body>
void with_width(Index count, const Body& body) {
  if (count <= 2) {
    body.template operator()<2>();
  } else if (count <= 4) {
    body.template operator()<4>();
  } else {
    static_assert(kernels::kHostColumns == 8);
    body.template operator()<8>();
  }
}

class HostFactorization : public Factorization::Impl {
 public:
  FactorStatus factor(const double* values, MemorySpace space, Stream) final {
    require_host_memory(space);
    const kernels::PivotRule rule{options_.shift, options_.zero_pivot, options_.shift_amount};
    kernels::ShiftStrategy strategy(options_, dominance_ ? (*dominance_)(values) : 0.0);
    do {
      run_attempt(values, strategy.amount(), rule);
    } while (strategy.again(findings_.any_zero()));
    FactorStatus status = findings_.status([this](Index i) { return pivot(i); });
    status.shift_amount = strategy.amount();
    status.shifts += strategy.shifts();
    load_sweeps();
    return status;
  }

  void apply(Apply part, Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx, MemorySpace space,
             Stream) final {
    require_host_memory(space);
    check_part(part);
    const std::size_t work = columns_work_.size();
    for (Index k = 0; k < count;) {
      const Index together = std::min(count - k, kernels::kHostColumns);
      if (together == 1) {
        apply_one(part, b + k * ldb, x + k * ldx);
      } else {
        apply_columns(part, {together, b + k * ldb, ldb, x + k * ldx, ldx});
      }
      k += together;
    }
    if (columns_work_.size() > work) update_info();
  }

  SolveOutcome outcome() final {
    return std::exchange(finite_, true) ? SolveOutcome::success : SolveOutcome::non_finite;
  }

 protected:
  HostFactorization(const Context& context, const CsrPattern& pattern, const FactorOptions& options,
                    std::span<const Index> row_order, std::span<const Index> col_order)
      : state_(context.state()),
        options_(options),
        request_(request_of(options, context)),
        row_order_(row_order.begin(), row_order.end()),
        col_order_(col_order.begin(), col_order.end()),
        matrix_(permute_pattern(pattern, row_order, col_order)),
        work_(static_cast<std::size_t>(pattern.rows)) {
    static_cast<void>(diagonal_entries(matrix_.view()));  // names the row that lacks one
    check_blocks();
    if (options.kind == FactorKind::ic0) reduce_to_upper();
    if (options.levels > 0) fill(options.levels);
    if (options.shift == ShiftType::positive_definite) dominance_ = std::make_unique<Dominance>(pattern);
    info.rows = pattern.rows;
  }

  void finish_info(const ScheduledSweep& lower, const ScheduledSweep& upper) {
    info.entries = matrix_.view().entries();
    info.lower_levels = lower.levels();
    info.upper_levels = upper.levels();
    info.lower_threads = lower.threads();
    info.upper_threads = upper.threads();
    info.lower_schedule = lower.schedule();
    info.upper_schedule = upper.schedule();
    const auto rows = static_cast<std::int64_t>(info.rows);
    info.bytes = lower.bytes() + upper.bytes() +
                 static_cast<std::int64_t>(sizeof(double) + sizeof(Index) + sizeof(Offset)) * info.entries +
                 static_cast<std::int64_t>(2 * sizeof(double) + 4 * sizeof(Index)) * rows +
                 static_cast<std::int64_t>(sizeof(double) * columns_work_.size());
  }

  /// A sweep over the strict `triangle` of `pattern`, by the schedule that was asked for. `plan`: see ScheduledSweep.
  [[nodiscard]] ScheduledSweep make_sweep(const CsrPattern& pattern, const Offset* source, Triangle triangle,
                                          std::shared_ptr<const ThreadPlan> plan = nullptr) const {
    ThreadPool& pool = *state_->pool;
    const SolveSchedule schedule = settle_host_schedule(request_, pattern, triangle, pool);
    if (schedule == SolveSchedule::blocks || (schedule == SolveSchedule::automatic && blocks_pay())) {
      return {pattern,
              source,
              triangle,
              pool,
              SolveSchedule::blocks,
              make_block_schedule(*options_.blocks, triangle, pool.processors())};
    }
    return {pattern, source, triangle, pool, schedule, std::move(plan)};
  }

  /// Whether each thread has enough rows of a colour to make up for a barrier.
  [[nodiscard]] bool blocks_pay() const {
    constexpr std::int64_t kRowsPerCell = 250;
    const int cores = state_->pool->processors();
    if (cores == 1 || !options_.blocks || options_.levels > 0) return false;
    return options_.blocks->rows() >= kRowsPerCell * cores * options_.blocks->colours();
  }

  void check_blocks() const {
    if (!options_.blocks || options_.levels > 0) return;
    if (const auto fault = find_fault(*options_.blocks, matrix_.view())) {
      throw InvalidInput("FactorOptions::blocks: " + *fault);
    }
  }

  void reduce_to_upper() {
    MappedPattern upper = upper_triangle(matrix_.view());
    for (Offset& source : upper.source_entry) source = matrix_.source_entry[static_cast<std::size_t>(source)];
    matrix_ = std::move(upper);
  }

  void fill(Index levels) {
    ThreadPool& pool = *state_->pool;
    matrix_ = options_.kind == FactorKind::ic0 ? fill_upper_pattern(matrix_, levels, pool)
                                               : fill_pattern(matrix_, levels, pool);
  }

  virtual void run_attempt(const double* values, double shift, const kernels::PivotRule& rule) = 0;
  virtual void load_sweeps() = 0;
  virtual void check_part(Apply) const {}
  virtual void apply_one(Apply part, const double* b, double* x) = 0;
  virtual void apply_columns(Apply part, const Columns& columns) = 0;
  virtual void update_info() = 0;
  [[nodiscard]] virtual double pivot(Index i) const = 0;

  /// Copies the vector b of the user's numbering into the work space in the factor's.
  void gather(const std::vector<Index>& order, const double* b) {
    for (std::size_t i = 0; i < work_.size(); ++i) work_[i] = b[order.empty() ? i : static_cast<std::size_t>(order[i])];
  }

  /// x = (second ∘ first) b, where x_i of either sweep is scaled by its pivot function.
  template <class FirstPivot, class Rhs, class SecondPivot>
  void both(ScheduledSweep& first, const FirstPivot& first_pivot, const std::vector<Index>& in, const double* b,
            ScheduledSweep& second, const Rhs& scale, const SecondPivot& second_pivot, const std::vector<Index>& out,
            double* x) {
    const auto nothing = [](Index, double) {};
    if (in.empty() && out.empty()) {  // the solution's array is the work space
      first.run(
          x, [b](Index i) { return b[i]; }, first_pivot, nothing);
      finite_ &= second.run(
          x, [x, &scale](Index i) { return scale(i, x[i]); }, second_pivot, nothing);
      return;
    }
    double* const w = work_.data();
    first.run(
        w, [&, b](Index i) { return b[at(in, i)]; }, first_pivot, nothing);
    finite_ &= second.run(
        w, [w, &scale](Index i) { return scale(i, w[i]); }, second_pivot,
        [&, x](Index i, double value) { x[at(out, i)] = value; });
  }

  /// The same for several columns at once.
  template <int Width, class FirstPivot, class Rhs, class SecondPivot>
  void both_columns(ScheduledSweep& first, const FirstPivot& first_pivot, const std::vector<Index>& in,
                    const Columns& columns, ScheduledSweep& second, const Rhs& scale, const SecondPivot& second_pivot,
                    const std::vector<Index>& out) {
    double* const w = columns_work<Width>();
    first.run_columns<Width>(
        w, [&](Index i) { return columns.read<Width>(at(in, i)); }, first_pivot, [](Index, const auto&) {});
    finite_ &= second.run_columns<Width>(
        w, [&](Index i) { return scaled_row<Width>(w, i, [&](double value) { return scale(i, value); }); },
        second_pivot, [&](Index i, const auto& values) { columns.write<Width>(at(out, i), values); });
  }

  /// Row i of the work space, each value changed by `scale`.
  template <int Width, class Scale>
  static kernels::ColumnValues<Width> scaled_row(const double* work, Index i, const Scale& scale) {
    kernels::ColumnValues<Width> values;
    for (int k = 0; k < Width; ++k) values.at[k] = scale(kernels::row_of<Width>(work, i)[k]);
    return values;
  }

  static Index at(const std::vector<Index>& order, Index i) {
    return order.empty() ? i : order[static_cast<std::size_t>(i)];
  }

  /// Rows of Width doubles, made on first use.
  template <int Width>
  double* columns_work() {
    const std::size_t size = work_.size() * Width;
    if (columns_work_.size() < size) columns_work_.resize(size);
    return columns_work_.data();
  }

  std::shared_ptr<Context::State> state_;
  FactorOptions options_;
  ScheduleRequest request_;
  std::vector<Index> row_order_;
  std::vector<Index> col_order_;
  MappedPattern matrix_;  // what is factorised, with the way to A's entries
  std::unique_ptr<Dominance> dominance_;
  kernels::Findings findings_;
  std::vector<double> work_;
  std::vector<double> columns_work_;  // from the first application to several columns on
  bool finite_ = true;
};

constexpr auto kUnit = [](Index, double value) { return value; };

class HostIluFactorization final : public HostFactorization {
 public:
  HostIluFactorization(const Context& context, const CsrPattern& pattern, const FactorOptions& options,
                       std::span<const Index> row_order, std::span<const Index> col_order)
      : HostFactorization(context, pattern, options, row_order, col_order),
        kernel_(matrix_.view(), *state_->pool),
        lower_(make_sweep(matrix_.view(), nullptr, Triangle::lower, kernel_.plan())),
        upper_(make_sweep(matrix_.view(), nullptr, Triangle::upper)) {
    finish_info(lower_, upper_);
  }

  [[nodiscard]] CsrMatrix copy_factor() const override {
    return {matrix_.rows, matrix_.cols, matrix_.row_offsets, matrix_.col_indices, kernel_.values()};
  }

 private:
  struct TransposedSweeps {
    ScheduledSweep lower;  // Uᵀ
    ScheduledSweep upper;  // Lᵀ
  };

  [[nodiscard]] TransposedSweeps make_transposed() const {
    const Transposed turned = transpose(matrix_.view());
    return {make_sweep(turned.view(), turned.source_entry.data(), Triangle::lower),
            make_sweep(turned.view(), turned.source_entry.data(), Triangle::upper)};
  }

  void run_attempt(const double* values, double shift, const kernels::PivotRule& rule) override {
    kernel_.factor(values, matrix_.source_entry.data(), shift, rule, findings_);
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

class HostIcFactorization final : public HostFactorization {
 public:
  HostIcFactorization(const Context& context, const CsrPattern& pattern, const FactorOptions& options,
                      std::span<const Index> order)
      : HostFactorization(context, pattern, options, order, order),
        turned_(transpose(matrix_.view())),
        kernel_(matrix_.view(), *state_->pool),
        lower_(make_sweep(turned_.view(), turned_.source_entry.data(), Triangle::lower, kernel_.plan())),
        upper_(make_sweep(matrix_.view(), nullptr, Triangle::upper)) {
    turned_ = {};
    finish_info(lower_, upper_);
  }

  [[nodiscard]] CsrMatrix copy_factor() const override {
    return {matrix_.rows, matrix_.cols, matrix_.row_offsets, matrix_.col_indices, kernel_.values()};
  }

 private:
  void run_attempt(const double* values, double shift, const kernels::PivotRule& rule) override {
    kernel_.factor(values, matrix_.source_entry.data(), shift, rule, findings_);
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

std::unique_ptr<Factorization::Impl> make_factorization(const Context& context, const CsrPattern& pattern,
                                                        const FactorOptions& options, std::span<const Index> row_order,
                                                        std::span<const Index> col_order) {
  if (options.kind == FactorKind::ic0) {
    return std::make_unique<HostIcFactorization>(context, pattern, options, row_order);
  }
  return std::make_unique<HostIluFactorization>(context, pattern, options, row_order, col_order);
}

}  // namespace taskdag::host
