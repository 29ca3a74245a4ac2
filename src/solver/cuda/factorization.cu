#include <algorithm>
#include <climits>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/device.hpp"
#include "backends/cuda/pool_use.hpp"
#include "backends/cuda/reduce.hpp"
#include "backends/host/thread_pool.hpp"
#include "context/state.hpp"
#include "csr/gather.hpp"
#include "csr/permuted_values.hpp"
#include "dag/transpose.hpp"
#include "kernels/factor/cuda/program.hpp"
#include "kernels/factor/fill/blocks.hpp"
#include "kernels/factor/fill/levels.hpp"
#include "kernels/factor/shift.hpp"
#include "kernels/papers/papers.hpp"
#include "solver/choice/require_schedule.hpp"
#include "solver/cuda/factorization.hpp"
#include "solver/cuda/input.hpp"
#include "solver/cuda/order.hpp"
#include "solver/cuda/precision.hpp"
#include "taskdag/error.hpp"

namespace taskdag::cuda {

namespace {

const kernels::Papers& papers_of(SolveSchedule schedule) {
  return kernels::papers(std::string("the schedule ") + to_string(schedule) + " of a factorisation");
}

/// What a call of factor() lends the factor goes with it, whatever happens.
class LentEntries {
 public:
  explicit LentEntries(kernels::Factor& factor) : factor_(factor) {}
  ~LentEntries() { factor_.drop_entries(); }
  LentEntries(const LentEntries&) = delete;
  LentEntries& operator=(const LentEntries&) = delete;

 private:
  kernels::Factor& factor_;
};

}  // namespace

CudaFactorization::CudaFactorization(const Context& context, const CsrPattern& pattern, MemorySpace space,
                                     const FactorOptions& options, std::span<const Index> row_order,
                                     std::span<const Index> col_order, Stream stream)
    : closing_(context.device()),
      device_(context.device()),
      host_threads_(context.state()->host_threads),
      options_(options),
      double_request_(request_of(options, context)),
      request_(double_request_),
      flag_(native(stream)) {
  const cudaStream_t s = native(stream);
  const PoolKeeps keeps;
  if (options.precision == Precision::in_single) ask_for_single(request_);
  const CudaPatternInput input(pattern, space, s);
  const auto rows = static_cast<std::size_t>(input.pattern().rows);
  layout_.input_entries = static_cast<std::size_t>(input.pattern().entries);
  if (options.device_order) {
    layout_.row_order = copy_of(options.device_order->data(), rows, s);
    options_.device_order.reset();
    layout_.pattern = kernels::permute_pattern(input.pattern(), layout_.row_order.data(), layout_.column_order(), s);
  } else if (!row_order.empty() || !col_order.empty()) {
    layout_.row_order = upload_order(row_order, rows, s);
    const bool same = col_order.data() == row_order.data() && col_order.size() == row_order.size();
    if (!same) layout_.col_order = upload_order(col_order, rows, s);
    layout_.pattern = kernels::permute_pattern(input.pattern(), layout_.row_order.data(), layout_.column_order(), s);
  } else {
    layout_.pattern = kernels::copy_pattern(input.pattern(), s);
  }
  layout_.diagonal = {rows, s};
  const Index missing = layout_.find_diagonal(s);
  if (missing >= 0) refuse_missing_diagonal(layout_.callers_row(missing, s));
  if (options.kind == FactorKind::ic) {
    analyse_ic(s);
  } else {
    analyse_ilu(s);
  }
  info.rows = layout_.pattern.rows;
  info.entries = layout_.pattern.entries;
  info.diagonal_only = factor_.only_diagonal_changes();
  info.lower_levels = sweeps_.first.features.levels;
  info.upper_levels = sweeps_.second.features.levels;
  info.lower_schedule = sweeps_.first.schedule;
  info.upper_schedule = sweeps_.second.schedule;
  report_precision();
  if (!without_lists_.walks()) layout_.restore_source(s);
  count_bytes();
  synchronize(s);
}

void CudaFactorization::drop_source(const AnalysedTriangle& forward, cudaStream_t s) {
  const bool reads_entries_alone = options_.shift == ShiftType::none || options_.shift == ShiftType::nonzero;
  if (!uses_recurrence() || factor_.listed() || !reads_entries_alone || options_.levels > 0 ||
      layout_.source() == nullptr) {
    return;
  }
  if (forward.features.longest_row > kShortRow) return;
  const kernels::TriangleRanges upper = kernels::find_triangle(layout_.pattern.pattern(), Triangle::upper, s);
  if (largest(upper.count.data(), layout_.pattern.rows, s) > kShortRow) return;
  layout_.drop_source();
}

void CudaFactorization::settle_precision(const AnalysedTriangle& forward) {
  if (options_.precision != Precision::automatic) return;
  if (!has_precision(Backend::cuda, options_.schedule, Precision::in_single)) return;
  const bool in_blocks = options_.schedule == SolveSchedule::automatic || options_.schedule == SolveSchedule::blocks;
  if (single_pays(forward.features, in_blocks ? blocks() : nullptr)) ask_for_single(request_);
}

void CudaFactorization::report_precision() {
  info.precision = request_.precision;
  const std::int64_t beside = layout_.pattern.entries - layout_.pattern.rows;
  const std::int64_t loaded = options_.kind == FactorKind::ic ? 2 * beside : beside;
  const auto bytes_with = [&](std::size_t each) {
    return static_cast<std::int64_t>(each) * loaded + static_cast<std::int64_t>(sizeof(double)) * layout_.pattern.rows;
  };
  info.value_bytes = bytes_with(single() ? sizeof(float) : sizeof(double));
  info.value_bytes_in_double = bytes_with(sizeof(double));
}

FactorStatus CudaFactorization::factor(const double* values, MemorySpace space, Stream stream) {
  const DeviceGuard guard(device_);
  const cudaStream_t s = native(stream);
  const StreamOrder::Call call(order_, s);
  second_alone_.symmetric_ready = false;
  many_.loaded = false;
  many_transposed_.loaded = false;
  if (space == MemorySpace::host) {
    if (host_.values.size() < layout_.input_entries) host_.values = {layout_.input_entries, s};
    host_.staging.upload(host_.values.data(), values, layout_.input_entries, s);
    values = host_.values.data();
  }
  FactorStatus status;
  {
    const LentEntries lent(factor_);
    entries_.dropped = false;
    bool drops = can_drop_entries(s);
    if (drops) {
      factor_.lend_entries(s);
    } else {
      take_room_for_entries(s);
    }
    status = attempt_until_done(values, s);
    if (status.outcome == FactorOutcome::success) {
      if (keep_double_if_needed(s) && drops) {
        // The entries that are about to go have been scaled for single, and the new sweeps may not return theirs.
        drops = can_drop_entries(s);
        if (!drops) {
          factor_.drop_entries();
          take_room_for_entries(s);
        }
        status = attempt_until_done(values, s);
      }
      keep_rows_if_needed(s);
    }
    entries_.dropped = drops;
  }
  for (ManySweeps* const many : {&many_, &many_transposed_}) {
    if (!many->captured || !many->pair) continue;
    load_many(*many, many == &many_transposed_, s);
    many->loaded = true;
  }
  count_bytes();
  return status;
}

bool CudaFactorization::can_drop_entries(cudaStream_t s) {
  if (entries_.asked_for || options_.kind != FactorKind::ilu || info.rows == 0 || without_lists_.of_papers)
    return false;
  if (transposed_.first.sweep || !retired_.sweeps.empty() || rewrites_rows()) return false;
  if (sweeps_.first.can().returns_values == nullptr || sweeps_.second.can().returns_values == nullptr) return false;
  return method(kernels::pivot_rule(options_), s) != nullptr;
}

void CudaFactorization::take_room_for_entries(cudaStream_t s) {
  factor_.keep_entries(s);
  if (single() && entries_.unit.size() == 0) entries_.unit = {static_cast<std::size_t>(layout_.pattern.entries), s};
}

void CudaFactorization::require_entries(cudaStream_t s) {
  if (!entries_.dropped) return;
  cuda::refuse_capture(s, "the first call that needs the factor's entries");
  take_room_for_entries(s);
  restore_entries(factor_.entries(), s);
  scale_to_unit(s);
  entries_.dropped = false;
  entries_.asked_for = true;
  count_bytes();
}

void CudaFactorization::restore_entries(double* entries, cudaStream_t s) const {
  sweeps_.first.can().returns_values->return_values(nullptr, entries, s);
  sweeps_.second.can().returns_values->return_values(factor_.inverse_pivots(), entries, s);
  if (single()) {
    kernels::scale_right_of_diagonal(layout_.pattern.pattern(), layout_.diagonal.data(), factor_, true, entries, s);
  }
  kernels::put_pivots(layout_.pattern.rows, layout_.diagonal.data(), factor_, entries, s);
}

CsrMatrix CudaFactorization::copy_factor() const {
  const DeviceGuard guard(device_);
  check(cudaDeviceSynchronize(), "waiting for the device");
  const UniqueStream own;
  const cudaStream_t s = own.get();
  CsrMatrix result;
  result.rows = result.cols = layout_.pattern.rows;
  result.row_offsets = fetch_array(layout_.pattern.row_offsets.data(), layout_.pattern.row_offsets.size(), s);
  result.col_indices = fetch_array(layout_.pattern.col_indices.data(), layout_.pattern.col_indices.size(), s);
  const auto entries = static_cast<std::size_t>(layout_.pattern.entries);
  if (entries_.dropped) {
    const ScratchArray<double> restored(entries, s);
    restore_entries(restored.data(), s);
    result.values = fetch_array(restored.data(), entries, s);
  } else if (factor_.has_entries()) {
    result.values = fetch_array(factor_.entries(), entries, s);
  } else {  // nothing has been factored yet
    result.values.resize(entries);
  }
  if (options_.kind == FactorKind::ic) {
    const auto unit = fetch_array(entries_.unit.data(), entries_.unit.size(), s);
    for (Index i = 0; i < result.rows; ++i) {
      const auto begin = static_cast<std::size_t>(result.row_offsets[static_cast<std::size_t>(i)]);
      const auto end = static_cast<std::size_t>(result.row_offsets[static_cast<std::size_t>(i) + 1]);
      for (std::size_t e = begin + 1; e < end; ++e) result.values[e] = unit[e];
    }
  }
  return result;
}

void CudaFactorization::fill(cudaStream_t s) {
  if (const RowBlocks* const blocks = blocks_of_fill(options_)) {
    layout_.pattern = kernels::fill_in_blocks(layout_.pattern, options_.kind, *blocks, options_.levels, s);
  } else {
    fill_everywhere(s);
  }
}

void CudaFactorization::fill_everywhere(cudaStream_t s) {
  MappedPattern known{layout_.pattern.rows, layout_.pattern.rows,
                      fetch_array(layout_.pattern.row_offsets.data(), layout_.pattern.row_offsets.size(), s),
                      fetch_array(layout_.pattern.col_indices.data(), layout_.pattern.col_indices.size(), s),
                      fetch_array(layout_.pattern.source.data(), layout_.pattern.source.size(), s)};
  if (known.source_entry.empty()) {
    known.source_entry.resize(known.col_indices.size());
    std::iota(known.source_entry.begin(), known.source_entry.end(), Offset{0});
  }
  host::ThreadPool pool(host_threads_);
  const MappedPattern filled = options_.kind == FactorKind::ic
                                   ? fill_upper_pattern(known, options_.levels, nullptr, pool)
                                   : fill_pattern(known, options_.levels, nullptr, pool);
  const std::size_t entries = filled.col_indices.size();
  DeviceCsr result{
      filled.rows, static_cast<Offset>(entries), {filled.row_offsets.size(), s}, {entries, s}, {entries, s}};
  copy_to_device(result.row_offsets.data(), filled.row_offsets.data(), filled.row_offsets.size(), s);
  copy_to_device(result.col_indices.data(), filled.col_indices.data(), entries, s);
  copy_to_device(result.source.data(), filled.source_entry.data(), entries, s);
  synchronize(s);  // `filled` may go
  layout_.pattern = std::move(result);
}

std::vector<EngineRun> CudaFactorization::engine_runs() const {
  const DeviceGuard guard(device_);
  check(cudaDeviceSynchronize(), "waiting for the device");
  std::vector<EngineRun> runs;
  if (factor_.program() != nullptr) runs.push_back({"numeric factorisation", factor_.program()->report()});
  sweeps_.add_runs("", runs);
  transposed_.add_runs("transposed ", runs);
  return runs;
}

void CudaFactorization::analyse_ilu(cudaStream_t s) {
  if (options_.levels > 0) {
    fill(s);
    static_cast<void>(layout_.find_diagonal(s));
  }
  const DevicePattern p = layout_.pattern.pattern();
  const AnalysedTriangle forward(p, Triangle::lower, s);
  factor_ = kernels::Factor(kernels::Elimination::ilu(p, layout_.diagonal.data(), options_.diagonal_only,
                                                      forward.levels, layout_.source(), lists_first(), s),
                            FactorKind::ilu, p.entries, factor_run(), s);
  if (const auto schedule = schedule_of_rows(options_.factor_schedule)) {
    without_lists_.of_papers =
        papers_of(*schedule).ilu(*schedule, p, layout_.diagonal.data(), options_.diagonal_only, *request_.study, s);
  }
  settle_precision(forward);
  drop_source(forward, s);
  sweeps_ = make_sweeps(forward, nullptr, s);
  if (needs_lists(s)) make_lists(forward.levels, nullptr, s);
}

SweepPair CudaFactorization::make_sweeps(const AnalysedTriangle& forward, const Offset* forward_source,
                                         cudaStream_t s) const {
  const DevicePattern p = layout_.pattern.pattern();
  const Index* const out = options_.kind == FactorKind::ic ? layout_.row_order.data() : layout_.column_order();
  const bool same = options_.kind == FactorKind::ilu;
  SweepPair made(request_, forward, forward_source, layout_.row_order.data(), AnalysedTriangle(p, Triangle::upper, s),
                 nullptr, out, blocks(), uses_recurrence(), s, same ? &p : nullptr);
  if (!same) rely(made.second, p);
  return made;
}

SweepPair CudaFactorization::make_sweeps(cudaStream_t s) const {
  const DevicePattern p = layout_.pattern.pattern();
  if (options_.kind == FactorKind::ilu) return make_sweeps(AnalysedTriangle(p, Triangle::lower, s), nullptr, s);
  const DeviceCsr above = kernels::transpose_pattern(p, s);
  return make_sweeps(AnalysedTriangle(above.pattern(), Triangle::lower, s), above.source.data(), s);
}

void CudaFactorization::analyse_ic(cudaStream_t s) {
  DeviceCsr upper = kernels::upper_pattern(layout_.pattern.pattern(), layout_.diagonal.data(), s);
  if (layout_.pattern.source.size() > 0) {  // upper entry → permuted entry → entry of the input
    DeviceArray<Offset> source(upper.source.size(), s);
    kernels::gather(upper.entries, layout_.pattern.source.data(), upper.source.data(), source.data(), s);
    upper.source = std::move(source);
  }
  if (options_.shift == ShiftType::positive_definite) layout_.full = std::move(layout_.pattern);
  layout_.pattern = std::move(upper);
  if (options_.levels > 0) fill(s);
  static_cast<void>(layout_.find_diagonal(s));  // now the first entry of each row
  const DevicePattern p = layout_.pattern.pattern();
  DeviceCsr above = kernels::transpose_pattern(p, s);
  const AnalysedTriangle forward(above.pattern(), Triangle::lower, s);
  factor_ = kernels::Factor(
      kernels::Elimination::ic(p, above, options_.diagonal_only, forward.levels, layout_.source(), lists_first(), s),
      FactorKind::ic, p.entries, factor_run(), s);
  entries_.unit = {static_cast<std::size_t>(p.entries), s};
  settle_precision(forward);
  sweeps_ = make_sweeps(forward, above.source.data(), s);
  if (needs_lists(s)) make_lists(forward.levels, &above, s);
  if (const auto schedule = schedule_of_rows(options_.factor_schedule)) {
    without_lists_.of_papers =
        papers_of(*schedule).ic(*schedule, p, std::move(above), options_.diagonal_only, *request_.study, s);
  }
}

bool CudaFactorization::needs_lists(cudaStream_t s) {
  if (factor_.listed() || schedule_of_rows(options_.factor_schedule)) return false;
  return method(kernels::pivot_rule(options_), s) == nullptr;
}

void CudaFactorization::make_lists(const kernels::RowLevels& levels, const DeviceCsr* above, cudaStream_t s) {
  layout_.restore_source(s);
  const DevicePattern p = layout_.pattern.pattern();
  factor_.take_lists(above != nullptr ? kernels::Elimination::ic(p, *above, options_.diagonal_only, levels,
                                                                 layout_.source(), lists_later(), s)
                                      : kernels::Elimination::ilu(p, layout_.diagonal.data(), options_.diagonal_only,
                                                                  levels, layout_.source(), lists_later(), s),
                     s);
}

void CudaFactorization::make_lists(cudaStream_t s) {
  const auto levels_of = [s](const DevicePattern& pattern) {
    return kernels::compute_levels(pattern, kernels::find_triangle(pattern, Triangle::lower, s), Triangle::lower, s);
  };
  if (options_.kind == FactorKind::ilu) {
    make_lists(levels_of(layout_.pattern.pattern()), nullptr, s);
    return;
  }
  const DeviceCsr above = kernels::transpose_pattern(layout_.pattern.pattern(), s);
  make_lists(levels_of(above.pattern()), &above, s);
}

FactorStatus CudaFactorization::attempt_until_done(const double* values, cudaStream_t s) {
  FactorStatus status;
  const double dominance = options_.shift == ShiftType::positive_definite ? full_dominance(values, s) : 0.0;
  kernels::ShiftStrategy strategy(options_, dominance);
  const kernels::PivotRule rule = kernels::pivot_rule(options_);
  kernels::FactorReport report;
  bool again = true;
  while (again) {
    // Sweeps are loaded before the outcome is known: an attempt that must be repeated is rare.
    attempt({values, layout_.source(), strategy.shift()}, rule, s);
    if (transposed_.first.sweep) load_transposed(transposed_, s);
    if (rewrites_rows()) measure_loss(s);
    for (const SweepPair& pair : retired_.sweeps) load_sweeps(pair, s);
    for (const SweepPair& pair : retired_.transposed) load_transposed(pair, s);
    report = factor_.report();
    if (report.lost_products != 0) {
      without_lists_.products_lost = true;  // once more, along lists; values to come are likely to be alike
    } else {
      again = report.first_not_definite == INT_MAX && strategy.again(report.last_zero >= 0);
    }
  }
  status.shift_amount = strategy.amount();
  status.shifts = options_.shift == ShiftType::inblocks ? report.shifted : strategy.shifts();
  if (report.last_zero >= 0) {
    status.last_row = report.last_zero;
    const Offset at = fetch(layout_.diagonal.data() + report.last_zero, s);
    status.last_pivot = std::abs(fetch(factor_.entries() + at, s));
  }
  if (report.first_not_definite != INT_MAX) {
    status.outcome = FactorOutcome::not_definite;
    status.first_row = report.first_not_definite;
  } else if (report.last_zero >= 0 && report.first_zero <= report.first_non_finite) {
    status.outcome = FactorOutcome::zero_pivot;
    status.first_row = report.first_zero;
  } else if (report.first_non_finite != INT_MAX) {
    status.outcome = FactorOutcome::non_finite;
    status.first_row = report.first_non_finite;
  }
  return status;
}

void CudaFactorization::attempt(const kernels::FactorInput& input, const kernels::PivotRule& rule, cudaStream_t s) {
  if (kernels::EliminationMethod* const other = method(rule, s)) {
    attempt_without_lists(input, rule, *other, s);
  } else {
    if (!factor_.listed()) make_lists(s);
    factor_.attempt(input, rule, s);
    scale_to_unit(s);
  }
  if (!single() || entries_.unit.size() > 0) {
    load_sweeps(s);
    return;
  }
  // Entries that are about to go: U becomes the unit one where it is, once L is loaded.
  double* const entries = factor_.entries();
  sweeps_.first->load_values(entries, nullptr, s);
  kernels::scale_right_of_diagonal(layout_.pattern.pattern(), layout_.diagonal.data(), factor_, false, entries, s);
  sweeps_.second->load_values(entries, factor_.inverse_pivots(), s);
}

void CudaFactorization::attempt_without_lists(kernels::FactorInput input, const kernels::PivotRule& rule,
                                              kernels::EliminationMethod& other, cudaStream_t s) {
  // Another schedule has replaced one whose rows are walked.
  if (layout_.source_dropped && !without_lists_.walks()) {
    layout_.restore_source(s);
    input.source = layout_.source();
  }
  if (layout_.source_dropped) {
    kernels::permute_values(layout_.pattern.pattern(), layout_.row_order.data(), layout_.column_order(), input.values,
                            factor_.entries(), s);
    input.values = factor_.entries();
  }
  factor_.attempt(input, rule, other, options_.kind == FactorKind::ic ? entries_.unit.data() : nullptr, s);
  if (options_.kind == FactorKind::ilu) scale_to_unit(s);
}

kernels::EliminationMethod* CudaFactorization::method(const kernels::PivotRule& rule, cudaStream_t s) {
  if (without_lists_.of_papers) return without_lists_.of_papers.get();
  if (!uses_recurrence() || rule.shift == ShiftType::inblocks) return nullptr;
  if (!without_lists_.recurrence) {
    kernels::RowWalk walk = kernels::RowWalk::none;
    if (sweeps_.first.features.longest_row <= kShortRow) {
      const bool in_blocks = sweeps_.first.schedule == SolveSchedule::blocks;
      walk = in_blocks ? kernels::RowWalk::in_order : kernels::RowWalk::by_levels;
    }
    without_lists_.recurrence.emplace(options_.kind, layout_.pattern.pattern(), layout_.diagonal.data(),
                                      *sweeps_.first.sweep, layout_.row_order.data(), s, walk);
  }
  return without_lists_.recurrence->possible() ? &*without_lists_.recurrence : nullptr;
}

void CudaFactorization::scale_to_unit(cudaStream_t s) {
  if (entries_.unit.size() > 0) kernels::scale_to_unit(layout_.pattern.pattern(), factor_, entries_.unit.data(), s);
}

double CudaFactorization::full_dominance(const double* values, cudaStream_t s) {
  if (options_.kind == FactorKind::ilu) {
    return kernels::diagonal_dominance(layout_.pattern.pattern(), values, layout_.source(), s);
  }
  return kernels::diagonal_dominance(layout_.full.pattern(), values,
                                     layout_.full.source.size() ? layout_.full.source.data() : nullptr, s);
}

void CudaFactorization::load_sweeps(cudaStream_t s) { load_sweeps(sweeps_, s); }

// The second sweep of ic solves with D·U: pivots D make it U⁻¹ D⁻¹ without a pass for D.
const double* CudaFactorization::first_values() const {
  return options_.kind == FactorKind::ic ? entries_.unit.data() : factor_.entries();
}

void CudaFactorization::load_sweeps(const SweepPair& sweeps, cudaStream_t s) const {
  sweeps.load({first_values()}, {second_values(sweeps), factor_.inverse_pivots()}, s);
}

void CudaFactorization::measure_loss(cudaStream_t s) {
  const double* const entries = factor_.entries();
  const double* const inverse = factor_.inverse_pivots();
  double* const most = loss_.begin(s);
  sweeps_.first.measure_loss(first_values(), nullptr, most, s);
  sweeps_.second.measure_loss(entries, inverse, most, s);
  if (transposed_.first.sweep) {
    transposed_.first.measure_loss(entries, inverse, most, s);
    transposed_.second.measure_loss(entries, nullptr, most, s);
  }
  loss_.end(s);
}

void CudaFactorization::keep_rows_if_needed(cudaStream_t s) {
  if (!rewrites_rows()) return;
  synchronize(s);
  const double most = loss_.most();
  if (!loses_too_much(most)) return;
  request_.keep_rows = true;
  replace_sweeps(s);
  info.given_up_loss = most;
}

bool CudaFactorization::keep_double_if_needed(cudaStream_t s) {
  if (!single()) return false;
  const double* const unit = entries_.unit.size() > 0 ? entries_.unit.data() : factor_.entries();
  const kernels::FoundLoss found = kernels::find_precision_loss(layout_.pattern.pattern(), factor_, unit, s);
  if (found.loss == PrecisionLoss::none) return false;
  const ScheduleRequest before = std::exchange(request_, double_request_);
  try {
    replace_sweeps(s);
  } catch (...) {
    request_ = before;  // the sweeps are still those of before
    throw;
  }
  if (order_.captured()) {
    for (ManySweeps* const many : {&many_, &many_transposed_}) {
      if (many->pair) retired_.many.push_back(std::move(*many));
    }
  } else if (options_.kind == FactorKind::ilu) {
    entries_.unit = {};
  }
  many_ = {};
  many_transposed_ = {};
  second_alone_.symmetric_ready = false;
  report_precision();
  info.precision_loss = found.loss;
  info.precision_loss_row = found.row;
  if (rewrites_rows()) measure_loss(s);
  return true;
}

void CudaFactorization::replace_sweeps(cudaStream_t s) {
  SweepPair keeping = make_sweeps(s);
  load_sweeps(keeping, s);
  SweepPair transposed;
  if (transposed_.first.sweep) transposed = make_transposed(s);
  without_lists_.recurrence.reset();  // of the sweep that goes
  DeviceArray<double> scaled = std::exchange(second_alone_.rhs, {});
  std::swap(sweeps_, keeping);
  std::swap(transposed_, transposed);
  if (order_.captured()) {  // graphs of them go on
    retired_.sweeps.push_back(std::move(keeping));
    if (transposed.first.sweep) retired_.transposed.push_back(std::move(transposed));
    retired_.vectors.push_back(std::move(scaled));
  }
  info.lower_schedule = sweeps_.first.schedule;
  info.upper_schedule = sweeps_.second.schedule;
  second_alone_.symmetric_ready = false;  // its right-hand side has gone
  // Sweeps may go between a set_diagonal() and the products that it is for. Where that fails, products are refused.
  if (eisenstat_.scaling == TransformScaling::symmetric || !std::exchange(facade.has_diagonal, false)) return;
  const ScratchArray<double> e(static_cast<std::size_t>(info.rows), s);
  kernels::scatter_inverse(info.rows, factor_.inverse_pivots(), nullptr, e.data(), s);
  eisenstat_.product.take_again(sweeps_, retired_.sweeps, e.data(), s);
  facade.has_diagonal = true;
}

void CudaFactorization::count_bytes() {
  info.numeric_bytes =
      layout_.pattern_bytes() + factor_.bytes() + entries_.unit.bytes() + without_lists_.bytes() + host_.values.bytes();
  info.bytes = info.numeric_bytes + layout_.order_bytes() + sweeps_.bytes() + transposed_.bytes() +
               second_alone_.rhs.bytes() + eisenstat_.bytes() + retired_.bytes() + many_.bytes() +
               many_transposed_.bytes();
}

std::unique_ptr<Factorization::Impl> make_factorization(const Context& context, const CsrPattern& pattern,
                                                        MemorySpace space, const FactorOptions& options,
                                                        std::span<const Index> row_order,
                                                        std::span<const Index> col_order, Stream stream) {
  const DeviceGuard guard(context.device());
  return std::make_unique<CudaFactorization>(context, pattern, space, options, row_order, col_order, stream);
}

}  // namespace taskdag::cuda
