#include "solver/host/factorization.hpp"

#include <algorithm>

#include "kernels/factor/growth.hpp"
#include "kernels/factor/shift.hpp"
#include "solver/checks.hpp"
#include "taskdag/block_ordering.hpp"

namespace taskdag::host {

HostFactorization::HostFactorization(const Context& context, const CsrPattern& pattern, const FactorOptions& options,
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
  if (options.kind == FactorKind::ic) reduce_to_upper();
  if (options.levels > 0) fill(options.levels);
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
  FactorStatus status = findings_.status([this](Index i) { return pivot(i); });
  status.shift_amount = strategy.amount();
  status.shifts += strategy.shifts();
  load_sweeps();
  return status;
}

void HostFactorization::apply(Apply part, Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx,
                              MemorySpace space, Stream) {
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

double HostFactorization::growth(const double* values, MemorySpace space, Stream) {
  require_host_memory(space);
  const std::size_t rows = work_.size();
  std::vector<double> weight(rows, 1.0);
  if (values != nullptr) {
    const std::vector<Offset> diagonal = diagonal_entries(matrix_.view());
    for (std::size_t i = 0; i < rows; ++i) {
      const Offset entry = matrix_.source_entry[static_cast<std::size_t>(diagonal[i])];
      weight[i] = kernels::growth_weight(values[entry]);
    }
  }
  std::vector<double> b(rows);
  std::vector<double> x(rows);
  for (std::size_t i = 0; i < rows; ++i) b[static_cast<std::size_t>(at(row_order_, static_cast<Index>(i)))] = weight[i];
  apply_one(Apply::full, b.data(), x.data());
  double largest = 0.0;
  for (std::size_t i = 0; i < rows; ++i) {
    const double value = x[static_cast<std::size_t>(at(col_order_, static_cast<Index>(i)))];
    largest = std::max(largest, kernels::weighted_size(weight[i], value));
  }
  return largest;
}

void HostFactorization::add_run(const kernels::RowProgram* program, std::vector<EngineRun>& runs) {
  if (program != nullptr) runs.push_back({"numeric factorisation", program->report()});
}

void HostFactorization::finish_info(const ScheduledSweep& lower, const ScheduledSweep& upper) {
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

ScheduledSweep HostFactorization::make_sweep(const CsrPattern& pattern, const Offset* source, Triangle triangle,
                                             std::shared_ptr<const ThreadPlan> plan) const {
  return host::make_sweep(request_, independent_blocks(options_), pattern, source, triangle, *state_->pool,
                          std::move(plan));
}

void HostFactorization::check_blocks() const {
  const RowBlocks* const blocks = independent_blocks(options_);
  if (blocks == nullptr) return;
  if (const auto fault = find_fault(*blocks, matrix_.view())) {
    throw InvalidInput("FactorOptions::blocks: " + *fault);
  }
}

void HostFactorization::reduce_to_upper() {
  MappedPattern upper = upper_triangle(matrix_.view());
  for (Offset& source : upper.source_entry) source = matrix_.source_entry[static_cast<std::size_t>(source)];
  matrix_ = std::move(upper);
}

void HostFactorization::fill(Index levels) {
  ThreadPool& pool = *state_->pool;
  const RowBlocks* const blocks = blocks_of_fill(options_);
  matrix_ = options_.kind == FactorKind::ic ? fill_upper_pattern(matrix_, levels, blocks, pool)
                                            : fill_pattern(matrix_, levels, blocks, pool);
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
