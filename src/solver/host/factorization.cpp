#include "solver/host/factorization.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "base/index.hpp"
#include "kernels/factor/growth.hpp"
#include "kernels/factor/shift.hpp"
#include "solver/checks.hpp"
#include "taskdag/block_ordering.hpp"

namespace taskdag::host {

HostFactorization::HostFactorization(const Context& context, const CsrPattern& pattern, const FactorOptions& options,
                                     std::span<const Index> row_order, std::span<const Index> col_order)
    : state_(context.state()),
      options_(options),
      double_request_(request_of(options, context)),
      request_(double_request_),
      row_order_(row_order.begin(), row_order.end()),
      col_order_(col_order.begin(), col_order.end()),
      work_(std::make_unique_for_overwrite<double[]>(taskdag::at(pattern.rows))) {
  if (options.precision == Precision::in_single) ask_for_single(request_);
  if (row_order.empty() && col_order.empty() && options.levels == 0) {
    take_as_it_is(pattern);
  } else {
    take_rearranged(pattern);
  }
  if (options.shift == ShiftType::positive_definite) dominance_ = std::make_unique<Dominance>(pattern);
  info.rows = pattern.rows;
}

FactorStatus HostFactorization::factor(const double* values, MemorySpace space, Stream) {
  require_host_memory(space);
  const kernels::PivotRule rule = kernels::pivot_rule(options_);
  kernels::ShiftStrategy strategy(options_, dominance_ ? (*dominance_)(values) : 0.0);
  do {
    run_attempt(values, strategy.shift(), rule);
  } while (!findings_.any_not_definite() && strategy.again(findings_.any_zero()));
  finish_attempts();
  FactorStatus status = findings_.status([this](Index i) { return pivot(i); });
  status.shift_amount = strategy.amount();
  status.shifts += strategy.shifts();
  if (single() && status.ok()) keep_double_if_needed();
  const bool as_it_is = status.ok() && status.shift_amount == 0.0 && status.shifts == 0 && !single();
  growth_bound = as_it_is ? findings_.growth().of(info.rows) : std::numeric_limits<double>::infinity();
  load_sweeps();
  return status;
}

void HostFactorization::keep_double_if_needed() {
  const FoundLoss found = find_loss();
  if (found.loss == PrecisionLoss::none) return;
  const ScheduleRequest before = std::exchange(request_, double_request_);
  try {
    remake_sweeps();
  } catch (...) {
    request_ = before;  // the sweeps are still those of before
    throw;
  }
  info.precision_loss = found.loss;
  info.precision_loss_row = found.row;
}

void HostFactorization::apply(Apply operation, Index count, const double* b, std::int64_t ldb, double* x,
                              std::int64_t ldx, MemorySpace space, Stream) {
  require_host_memory(space);
  check_operation(operation);
  const std::size_t work = columns_work_.size();
  for (Index k = 0; k < count;) {
    const Index together = std::min(count - k, kernels::kHostColumns);
    if (together == 1) {
      apply_one(operation, b + k * ldb, x + k * ldx);
    } else {
      apply_columns(operation, {.count = together,
                                .rhs = {.values = b + k * ldb, .stride = ldb},
                                .result = {.values = x + k * ldx, .stride = ldx}});
    }
    k += together;
  }
  if (columns_work_.size() > work) update_info();
}

double HostFactorization::growth(const double* values, MemorySpace space, Stream) {
  require_host_memory(space);
  const std::size_t rows = taskdag::at(info.rows);
  const auto weight = std::make_unique_for_overwrite<double[]>(rows);
  if (values == nullptr) {
    std::fill_n(weight.get(), rows, 1.0);
  } else {
    const kernels::HostPattern positions(pattern());
    const bool ic = options_.kind == FactorKind::ic;  // whose rows begin with the diagonal
    for (Index i = 0; i < info.rows; ++i) {
      const Offset below = ic ? 0 : positions.lower_end(i) - positions.lower_begin(i);
      const Offset before = ic ? positions.upper[i] + i : positions.before(i);
      weight[taskdag::at(i)] = kernels::growth_weight(values[source_.position(i, before, below)]);
    }
  }
  std::vector<double> b(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    b[taskdag::at(at(row_order_, static_cast<Index>(i)))] = weight[i] * kernels::growth_element(static_cast<Index>(i));
  }
  std::vector<double> reordered(row_order_.empty() && col_order_.empty() ? 0 : rows);
  double* const x = reordered.empty() ? work_.get() : reordered.data();
  apply_one(Apply::full, b.data(), x);
  double largest = 0.0;
  for (std::size_t i = 0; i < rows; ++i) {
    const double value = x[at(col_order_, static_cast<Index>(i))];
    largest = std::max(largest, kernels::weighted_size(weight[i], value));
  }
  return largest;
}

void HostFactorization::add_run(const kernels::RowProgram* program, std::vector<EngineRun>& runs) {
  if (program != nullptr) runs.push_back({"numeric factorisation", program->report()});
}

void HostFactorization::add_levels_of(const ScheduledSweep& lower, const ScheduledSweep& upper) {
  info.lower_levels = lower.level_count().levels;
  // The sweeps of ic are each other's transposes, and the longest path is as long from its end.
  info.upper_levels = options_.kind == FactorKind::ic ? info.lower_levels : upper.level_count().levels;
}

void HostFactorization::finish_info(const SplitPattern& pattern, std::int64_t bytes, const ScheduledSweep& lower,
                                    const ScheduledSweep& upper) {
  const bool ic = options_.kind == FactorKind::ic;
  info.entries = pattern.entries() - (ic ? pattern.lower_entries() : 0);
  info.lower_threads = lower.threads();
  info.upper_threads = upper.threads();
  info.lower_schedule = lower.schedule();
  info.upper_schedule = upper.schedule();
  info.precision = request_.precision;
  const std::int64_t loaded = pattern.entries() - info.rows;
  const auto bytes_with = [&](std::size_t each) {
    return static_cast<std::int64_t>(each) * loaded + static_cast<std::int64_t>(sizeof(double)) * info.rows;
  };
  info.value_bytes = bytes_with(single() ? sizeof(float) : sizeof(double));
  info.value_bytes_in_double = bytes_with(sizeof(double));
  info.numeric_bytes = source_.bytes();
  info.bytes = lower.bytes() + upper.bytes() + bytes + info.numeric_bytes +
               static_cast<std::int64_t>(sizeof(double) * (taskdag::at(info.rows) + columns_work_.size() +
                                                           middle_.size() + lower_work_.size() + root_.size()) +
                                         sizeof(Index) * (row_order_.size() + col_order_.size()));
}

ScheduledSweep HostFactorization::make_sweep(const CsrPattern& pattern, const Offset* source, Triangle triangle,
                                             std::shared_ptr<const ThreadPlan> plan) const {
  return host::make_sweep(request_, independent_blocks(options_), pattern, source, triangle, *state_->pool,
                          std::move(plan), kernels::HostSweepInput::lent);
}

void HostFactorization::take_as_it_is(const CsrPattern& pattern) {
  if (options_.kind == FactorKind::ilu) {
    split_ = split(pattern);
  } else if (std::optional<SplitPattern> symmetric = split_symmetric(pattern)) {
    split_ = std::move(*symmetric);
    source_.others = split_.lower_offsets() + 1;  // the lower triangle of the rows up to it
  } else {
    source_.rows = diagonal_entries(pattern);
    split_ = mirror_upper(pattern, source_.rows);
  }
  check_blocks(pattern);
}

void HostFactorization::take_rearranged(const CsrPattern& pattern) {
  MappedPattern matrix = permute_pattern(pattern, row_order_, col_order_);
  const bool ic = options_.kind == FactorKind::ic;
  // Names the row that lacks one, as split() does of what is split at once.
  if (ic || options_.levels > 0) static_cast<void>(diagonal_entries(matrix.view(), {row_order_}));
  check_blocks(matrix.view());
  if (ic) {
    MappedPattern upper = upper_triangle(matrix.view());
    for (Offset& source : upper.source_entry) source = matrix.source_entry[static_cast<std::size_t>(source)];
    matrix = std::move(upper);
  }
  if (options_.levels > 0) matrix = fill(matrix);
  split_ = ic ? mirror_upper(matrix.view(), diagonal_entries(matrix.view())) : split(matrix.view(), {row_order_});
  source_.entries = std::move(matrix.source_entry);
}

void HostFactorization::check_blocks(const CsrPattern& pattern) const {
  const RowBlocks* const blocks = independent_blocks(options_);
  if (blocks == nullptr) return;
  if (const auto fault = find_fault(*blocks, pattern)) {
    throw InvalidInput("FactorOptions::blocks: " + *fault);
  }
}

MappedPattern HostFactorization::fill(const MappedPattern& matrix) const {
  ThreadPool& pool = *state_->pool;
  const RowBlocks* const blocks = blocks_of_fill(options_);
  return options_.kind == FactorKind::ic ? fill_upper_pattern(matrix, options_.levels, blocks, pool)
                                         : fill_pattern(matrix, options_.levels, blocks, pool);
}

std::unique_ptr<Factorization::Impl> make_factorization(const Context& context, const CsrPattern& pattern,
                                                        const FactorOptions& options, std::span<const Index> row_order,
                                                        std::span<const Index> col_order) {
  if (options.kind == FactorKind::ic) {
    return make_ic(context, pattern, options, row_order);
  }
  return make_ilu(context, pattern, options, row_order, col_order);
}

}  // namespace taskdag::host
