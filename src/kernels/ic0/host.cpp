#include "kernels/ic0/host.hpp"

#include <algorithm>

#include "dag/levels.hpp"
#include "kernels/ic0/task.hpp"

namespace taskdag::kernels {

namespace {

constexpr Index kChunk = 16;

struct Row {
  double* values;
  const Index* columns;
  const Offset* entry_of_column;
  double& operator[](Offset e) const { return values[e]; }
  [[nodiscard]] Index column(Offset e) const { return columns[e]; }
  [[nodiscard]] Offset find(Index column) const { return entry_of_column[column]; }
};

/// The seam: the rows waited for are published before the body starts, so its waits are plain reads.
struct Factor {
  double* values;
  double* inverse_pivots;
  Findings* findings;
  [[nodiscard]] double wait_entry(Offset e) const { return values[e]; }
  [[nodiscard]] double peek_entry(Offset e) const { return values[e]; }
  [[nodiscard]] double peek_inverse_pivot(Index k) const { return inverse_pivots[k]; }
  void finish(Index, double, Offset, double, Offset, double) const {}
  void publish_entry(Offset, double) const {}  // the row is worked on in place
  void publish_pivot(Index i, Offset diagonal, double pivot) const {
    values[diagonal] = pivot;
    host::publish_row(inverse_pivots[i], 1.0 / pivot);
  }
  void zero_pivot(Index i, double) const { findings->zero_pivot(i); }
  void shifted(Index) const { findings->shifted(); }
  void non_finite(Index i) const { findings->non_finite(i); }
};

struct Pattern {
  const CsrPattern* csr;
  const Transposed* above;
  [[nodiscard]] Offset row_begin(Index k) const { return csr->row_offsets[k]; }
  [[nodiscard]] Offset row_end(Index k) const { return csr->row_offsets[k + 1]; }
  [[nodiscard]] Index column(Offset e) const { return csr->col_indices[e]; }
  [[nodiscard]] Offset above_begin(Index k) const { return above->row_offsets[static_cast<std::size_t>(k)]; }
  /// The last entry of a transposed row is the diagonal itself.
  [[nodiscard]] Offset above_end(Index k) const { return above->row_offsets[static_cast<std::size_t>(k) + 1] - 1; }
  [[nodiscard]] Index above_row(Offset t) const { return above->col_indices[static_cast<std::size_t>(t)]; }
  [[nodiscard]] Offset above_entry(Offset t) const { return above->source_entry[static_cast<std::size_t>(t)]; }
};

}  // namespace

HostIc0::HostIc0(const CsrPattern& pattern, host::ThreadPool& pool)
    : pool_(&pool),
      pattern_(pattern),
      above_(transpose(pattern)),
      values_(static_cast<std::size_t>(pattern.entries())),
      inverse_pivots_(static_cast<std::size_t>(pattern.rows)),
      entry_of_column_(static_cast<std::size_t>(pool.threads()),
                       std::vector<Offset>(static_cast<std::size_t>(pattern.rows), -1)) {
  const Schedule schedule(Triangle::lower, compute_levels(above_.view(), Triangle::lower, pool));
  order_.assign(schedule.order().begin(), schedule.order().end());
}

void HostIc0::factor(const double* values, const Offset* source, double shift, const PivotRule& rule,
                     Findings& findings) {
  std::fill(inverse_pivots_.begin(), inverse_pivots_.end(), not_yet());
  findings.reset();
  tickets_.reset();
  const Pattern pattern{&pattern_, &above_};
  const Factor factor{values_.data(), inverse_pivots_.data(), &findings};
  pool_->run([&](int thread) {
    Offset* const entry_of_column = entry_of_column_[static_cast<std::size_t>(thread)].data();
    Row row{values_.data(), pattern_.col_indices, entry_of_column};
    Index first = 0;
    Index last = 0;
    while (tickets_.take(pattern_.rows, kChunk, first, last)) {
      for (Index p = first; p < last; ++p) {
        const Index k = order_[static_cast<std::size_t>(p)];
        for (Offset e = pattern.row_begin(k); e < pattern.row_end(k); ++e) {
          row[e] = values[source[e]];
          entry_of_column[pattern.column(e)] = e;
        }
        row[pattern.row_begin(k)] += shift;
        for (Offset t = pattern.above_begin(k); t < pattern.above_end(k); ++t) {
          host::wait_row(inverse_pivots_[static_cast<std::size_t>(pattern.above_row(t))]);
        }
        ic0_row<1>(host::SingleThread(), pattern, k, row, factor, rule);
        for (Offset e = pattern.row_begin(k); e < pattern.row_end(k); ++e) entry_of_column[pattern.column(e)] = -1;
      }
    }
  });
}

void HostIc0::scale() {
  for (Index k = 0; k < pattern_.rows; ++k) {
    const double inverse = inverse_pivots_[static_cast<std::size_t>(k)];
    for (Offset e = pattern_.row_offsets[k] + 1; e < pattern_.row_offsets[k + 1]; ++e) {
      values_[static_cast<std::size_t>(e)] *= inverse;
    }
  }
}

}  // namespace taskdag::kernels
