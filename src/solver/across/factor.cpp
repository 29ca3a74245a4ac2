// Factors over ranks: what one of them does.
#include <atomic>
#include <cmath>
#include <optional>
#include <utility>

#include "base/memory_errors.hpp"
#include "kernels/factor/host.hpp"
#include "kernels/factor/ic/task.hpp"
#include "kernels/factor/ilu/task.hpp"
#include "kernels/factor/rank_tasks.hpp"
#include "kernels/factor/shift.hpp"
#include "solver/across/rows.hpp"

namespace taskdag {
namespace {

/// The Factor of the task bodies: inverse pivots stand in the diagonal's place, where ghosts get them with their row.
struct TaskFactor {
  double* values;
  const Offset* diagonals;
  kernels::Findings* findings;
  double first;
  [[nodiscard]] double first_diagonal() const { return first; }
  [[nodiscard]] double entry(Offset e) const { return values[e]; }
  [[nodiscard]] double inverse_pivot(Index k) const { return values[diagonals[k]]; }
  void publish_pivot(Index, Offset diagonal, double pivot) const { values[diagonal] = 1.0 / pivot; }
  void note_row(double, double, double, double) const {}
  void zero_pivot(Index i, double) const { findings->zero_pivot(i); }
  void shifted(Index) const { findings->shifted(); }
  void not_definite(Index i) const { findings->not_definite(i); }
  void non_finite(Index i) const { findings->non_finite(i); }
};

/// For each entry (i, k) below the diagonal of an own row the place of (k, i): that of row k's entry among those that
/// row k has, as an own row or a ghost, from the diagonal on.
std::vector<Offset> find_mirror(const RankRows& p) {
  std::vector<Offset> heads(at(p.rows), -1);  // of lists: places above the diagonal in column i
  std::vector<Offset> next(p.columns.size(), -1);
  std::vector<Index> row_of(p.columns.size());
  for (Index k = 0; k < p.total(); ++k) {
    for (Offset e = p.diagonals[at(k)] + 1; e < p.offsets[at(k) + 1]; ++e) {
      const Index column = p.columns[at(e)];
      row_of[at(e)] = k;
      if (column < p.rows) next[at(e)] = std::exchange(heads[at(column)], e);
    }
  }
  std::vector<Offset> place(at(p.total()), -1);
  std::vector<Offset> mirror(at(p.own_entries()), -1);
  for (Index i = 0; i < p.rows; ++i) {
    Offset above = 0;
    for (Offset e = heads[at(i)]; e >= 0; e = next[at(e)], ++above) place[at(row_of[at(e)])] = e;
    for (Offset e = p.offsets[at(i)]; e < p.diagonals[at(i)]; ++e) {
      mirror[at(e)] = std::exchange(place[at(p.columns[at(e)])], -1);
      if (mirror[at(e)] >= 0) --above;
    }
    const auto* const first = mirror.data() + p.offsets[at(i)];
    const auto* const last = mirror.data() + p.diagonals[at(i)];
    if (above != 0 || std::find(first, last, -1) != last) {
      throw InvalidInput("ICC and DIC across ranks need a matrix with a symmetric pattern");
    }
  }
  return mirror;
}

}  // namespace

class RankFactor::Impl {
 public:
  Impl(const Context& context, RankRows rows, const FactorOptions& options)
      : pool_(threads_of(context)), state_(context.state()), pattern_(std::move(rows)), options_(options) {
    if (options.kind == FactorKind::ic) mirror_ = find_mirror(pattern_);
    values_.resize(pattern_.columns.size());
    marks_ = kernels::make_marks<kernels::ColumnMarks>(pool_.processors(), pattern_.total());
  }

  [[nodiscard]] kernels::RankTasks tasks() const {
    return {pattern_.offsets.data(), pattern_.diagonals.data(), pattern_.columns.data(), mirror_.data()};
  }
  void load();
  void factor(Index first, Index last);

  host::ThreadPool& pool_;
  std::shared_ptr<Context::State> state_;  ///< keeps the pool
  RankRows pattern_;
  FactorOptions options_;
  std::vector<Offset> mirror_;
  std::vector<double> values_;
  std::vector<kernels::ColumnMarks> marks_;  ///< one a thread
  kernels::Findings findings_;
  std::optional<kernels::ShiftStrategy> strategy_;
  const double* given_ = nullptr;
  double first_diagonal_ = 0.0;
};

void RankFactor::Impl::load() {
  const kernels::DiagonalShift shift = strategy_->shift();
  findings_.reset();
  std::copy_n(given_, pattern_.own_entries(), values_.begin());
  for (Index i = 0; i < pattern_.rows; ++i) {
    double& diagonal = values_[at(pattern_.diagonals[at(i)])];
    diagonal = shift.applied_to(diagonal);
  }
}

void RankFactor::Impl::factor(Index first, Index last) {
  const kernels::RankTasks pattern = tasks();
  const kernels::PivotRule rule = kernels::pivot_rule(options_);
  TaskFactor factor{values_.data(), pattern.diagonals, &findings_, first_diagonal_};
  const bool cholesky = options_.kind == FactorKind::ic;
  const bool diagonal_only = options_.diagonal_only;
  for_rows(pool_, pattern_, Triangle::lower, first, last, [&](int thread, Index i) {
    const auto marks = marks_[at(thread)].view();
    // ICC changes only what it has from the diagonal on.
    const Offset begin = cholesky ? pattern.upper_begin(i) : pattern.lower_begin(i);
    for (Offset e = begin; e < pattern.upper_end(i); ++e) marks.set(i, pattern.column(e), e);
    const kernels::HostRow row{values_.data(), marks.row, marks.entry, i};
    if (cholesky)
      (void)kernels::ic0_row(pattern, i, row, values_.data(), factor, rule, diagonal_only);
    else
      (void)kernels::ilu0_row(pattern, i, row, factor, rule, diagonal_only);
  });
}

RankFactor::RankFactor(const Context& context, RankRows rows, const FactorOptions& options) {
  const Index count = rows.rows;
  with_memory_errors("a factor across ranks", count,
                     [&] { impl_ = std::make_unique<Impl>(context, std::move(rows), options); });
}
RankFactor::~RankFactor() = default;
RankFactor::RankFactor(RankFactor&&) noexcept = default;
RankFactor& RankFactor::operator=(RankFactor&&) noexcept = default;

double RankFactor::dominance(const double* values) const {
  const RankRows& p = impl_->pattern_;
  double most = 0.0;
  for (Index i = 0; i < p.rows; ++i) {
    const double diagonal = values[p.diagonals[at(i)]];
    double sum = -std::abs(diagonal) - diagonal;
    for (Offset e = p.offsets[at(i)]; e < p.offsets[at(i) + 1]; ++e) sum += std::abs(values[e]);
    most = std::max(most, sum);
  }
  return most;
}

void RankFactor::begin(const double* values, double dominance, double first_diagonal) {
  impl_->given_ = values;
  impl_->first_diagonal_ = first_diagonal;
  impl_->strategy_.emplace(impl_->options_, dominance);
}

void RankFactor::set_pivoting(double shift_amount, double zero_pivot) {
  impl_->options_.shift_amount = shift_amount;
  impl_->options_.zero_pivot = zero_pivot;
}

void RankFactor::load() { impl_->load(); }
void RankFactor::factor(Index first, Index last) { impl_->factor(first, last); }
bool RankFactor::again(bool zero_pivot) { return impl_->strategy_->again(zero_pivot); }
const FactorOptions& RankFactor::options() const { return impl_->options_; }
double RankFactor::shift_amount() const { return impl_->strategy_->amount(); }
int RankFactor::shifts() const { return impl_->strategy_->shifts(); }
double RankFactor::first_diagonal() const { return impl_->first_diagonal_; }
std::span<const Offset> RankFactor::mirror() const { return impl_->mirror_; }
double* RankFactor::values() { return impl_->values_.data(); }
const RankRows& RankFactor::pattern() const { return impl_->pattern_; }

FactorStatus RankFactor::status() const {
  const auto pivot = [this](Index i) { return 1.0 / impl_->values_[at(impl_->pattern_.diagonals[at(i)])]; };
  FactorStatus status = impl_->findings_.status(pivot);
  status.shift_amount = impl_->strategy_->amount();
  status.shifts += impl_->strategy_->shifts();
  return status;
}

void RankFactor::solve_lower(Index first, Index last, double* x) const {
  const kernels::RankTasks p = impl_->tasks();
  const double* const values = impl_->values_.data();
  for_rows(impl_->pool_, impl_->pattern_, Triangle::lower, first, last,
           [&](int, Index i) { x[i] -= sum_of(values, p.columns, p.lower_begin(i), p.lower_end(i), x); });
}

void RankFactor::solve_upper(Index first, Index last, double* x) const {
  const kernels::RankTasks p = impl_->tasks();
  const double* const values = impl_->values_.data();
  for_rows(impl_->pool_, impl_->pattern_, Triangle::upper, first, last, [&](int, Index i) {
    x[i] = (x[i] - sum_of(values, p.columns, p.upper_begin(i), p.upper_end(i), x)) * values[p.diagonal(i)];
  });
}

// By one thread: rows of a colour may add to the same element.
void RankFactor::solve_upper_transposed(Index first, Index last, double* x) const {
  const kernels::RankTasks p = impl_->tasks();
  const double* const values = impl_->values_.data();
  for (Index i = first; i < last; ++i) {
    x[i] *= values[p.diagonal(i)];
    for (Offset e = p.upper_begin(i); e < p.upper_end(i); ++e) x[p.column(e)] -= values[e] * x[i];
  }
}

void RankFactor::solve_lower_transposed(Index first, Index last, double* x) const {
  const kernels::RankTasks p = impl_->tasks();
  const double* const values = impl_->values_.data();
  for (Index i = last - 1; i >= first; --i) {
    for (Offset e = p.lower_begin(i); e < p.lower_end(i); ++e) x[p.column(e)] -= values[e] * x[i];
  }
}

}  // namespace taskdag
