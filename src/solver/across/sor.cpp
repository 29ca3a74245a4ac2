#include <cmath>
#include <utility>

#include "base/memory_errors.hpp"
#include "kernels/factor/state.hpp"
#include "kernels/sor/row.hpp"
#include "solver/across/rows.hpp"

namespace taskdag {

class RankSor::Impl {
 public:
  Impl(const Context& context, RankRows rows, double omega, double shift)
      : pool_(threads_of(context)), state_(context.state()), pattern_(std::move(rows)), omega_(omega), shift_(shift) {
    values_.resize(at(pattern_.own_entries()));
    sides_.resize(at(pattern_.rows));
  }

  [[nodiscard]] kernels::SorRow row(Index i) const { return {values_[at(pattern_.diagonals[at(i)])], omega_}; }
  /// Over the row's entries on one side of the diagonal.
  [[nodiscard]] double sum(Triangle side, Index i, const double* x) const {
    const Offset diagonal = pattern_.diagonals[at(i)];
    const bool lower = side == Triangle::lower;
    return sum_of(values_.data(), pattern_.columns.data(), lower ? pattern_.offsets[at(i)] : diagonal + 1,
                  lower ? diagonal : pattern_.offsets[at(i) + 1], x);
  }
  /// The right-hand side of row i in a pass.
  [[nodiscard]] double side(Triangle direction, PassStart start, Index i, double b, const double* x) const {
    const Triangle other = direction == Triangle::lower ? Triangle::upper : Triangle::lower;
    if (start == PassStart::zero) return b;
    if (start == PassStart::reversed) return row(i).next(b, sides_[at(i)], x[i]);
    return row(i).start(b, x[i]) - sum(other, i, x);
  }

  host::ThreadPool& pool_;
  std::shared_ptr<Context::State> state_;  ///< keeps the pool
  RankRows pattern_;
  double omega_;
  double shift_;
  std::vector<double> values_;  ///< of own rows, with shifted diagonals
  std::vector<double> sides_;   ///< right-hand sides of the last pass
};

RankSor::RankSor(const Context& context, RankRows rows, double omega, double shift) {
  const Index count = rows.rows;
  with_memory_errors("SOR across ranks", count,
                     [&] { impl_ = std::make_unique<Impl>(context, std::move(rows), omega, shift); });
}
RankSor::~RankSor() = default;
RankSor::RankSor(RankSor&&) noexcept = default;
RankSor& RankSor::operator=(RankSor&&) noexcept = default;

FactorStatus RankSor::load(const double* values) {
  const RankRows& p = impl_->pattern_;
  kernels::Findings findings;
  std::copy_n(values, p.own_entries(), impl_->values_.begin());
  for (Index i = 0; i < p.rows; ++i) {
    double& diagonal = impl_->values_[at(p.diagonals[at(i)])];
    diagonal = kernels::shifted_diagonal(diagonal, impl_->omega_, impl_->shift_);
    if (diagonal == 0.0) findings.zero_pivot(i);
    if (!std::isfinite(diagonal)) findings.non_finite(i);
  }
  return findings.status([&](Index) { return 0.0; });
}

void RankSor::pass(Triangle direction, PassStart start, Index first, Index last, const double* b, double* x) {
  for_rows(impl_->pool_, impl_->pattern_, direction, first, last, [&](int, Index i) {
    const double side = impl_->side(direction, start, i, b[i], x);
    impl_->sides_[at(i)] = side;
    x[i] = (side - impl_->sum(direction, i, x)) * impl_->row(i).inverse();
  });
}

void RankSor::inverse_diagonals(double* inverse) const {
  for (Index i = 0; i < impl_->pattern_.rows; ++i) inverse[i] = impl_->row(i).inverse();
}

// The second pass has (2 − ω) E x for its right-hand side, x being what the first one gave, and E x is what a sweep
// with a unit diagonal gives.
void RankSor::symmetric_factor(const double* inverse, double* values) const {
  const RankRows& p = impl_->pattern_;
  const double between = 2.0 - impl_->omega_;
  for (Index i = 0; i < p.rows; ++i) {
    const Offset diagonal = p.diagonals[at(i)];
    for (Offset e = p.offsets[at(i)]; e < diagonal; ++e) values[e] = impl_->values_[at(e)] * inverse[p.columns[at(e)]];
    values[diagonal] = between * inverse[i];
    for (Offset e = diagonal + 1; e < p.offsets[at(i) + 1]; ++e) values[e] = impl_->values_[at(e)] / between;
  }
}

const RankRows& RankSor::pattern() const { return impl_->pattern_; }

}  // namespace taskdag
