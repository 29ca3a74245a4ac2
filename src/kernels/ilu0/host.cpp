#include "kernels/ilu0/host.hpp"

#include <algorithm>

#include "dag/levels.hpp"
#include "kernels/ilu0/task.hpp"

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
  const Offset* diagonals;
  [[nodiscard]] Offset row_begin(Index i) const { return csr->row_offsets[i]; }
  [[nodiscard]] Offset row_end(Index i) const { return csr->row_offsets[i + 1]; }
  [[nodiscard]] Offset diagonal(Index i) const { return diagonals[i]; }
  [[nodiscard]] Index column(Offset e) const { return csr->col_indices[e]; }
};

}  // namespace

HostIlu0::HostIlu0(const CsrPattern& pattern, host::ThreadPool& pool)
    : pool_(&pool),
      pattern_(pattern),
      diagonal_(diagonal_entries(pattern)),
      values_(static_cast<std::size_t>(pattern.entries())),
      inverse_pivots_(static_cast<std::size_t>(pattern.rows)),
      entry_of_column_(static_cast<std::size_t>(pool.threads()),
                       std::vector<Offset>(static_cast<std::size_t>(pattern.rows), -1)) {
  const Schedule schedule(Triangle::lower, compute_levels(pattern, Triangle::lower, pool));
  order_.assign(schedule.order().begin(), schedule.order().end());
}

void HostIlu0::factor(const double* values, const Offset* source, double shift, const PivotRule& rule,
                      Findings& findings) {
  std::fill(inverse_pivots_.begin(), inverse_pivots_.end(), not_yet());
  findings.reset();
  tickets_.reset();
  const Pattern pattern{&pattern_, diagonal_.data()};
  const Factor factor{values_.data(), inverse_pivots_.data(), &findings};
  pool_->run([&](int thread) {
    Offset* const entry_of_column = entry_of_column_[static_cast<std::size_t>(thread)].data();
    Row row{values_.data(), pattern_.col_indices, entry_of_column};
    Index first = 0;
    Index last = 0;
    while (tickets_.take(pattern_.rows, kChunk, first, last)) {
      for (Index p = first; p < last; ++p) {
        const Index i = order_[static_cast<std::size_t>(p)];
        for (Offset e = pattern.row_begin(i); e < pattern.row_end(i); ++e) {
          row[e] = values[source[e]];
          entry_of_column[pattern.column(e)] = e;
        }
        row[pattern.diagonal(i)] += shift;
        for (Offset e = pattern.row_begin(i); e < pattern.diagonal(i); ++e) {
          host::wait_row(inverse_pivots_[static_cast<std::size_t>(pattern.column(e))]);
        }
        ilu0_row<1>(host::SingleThread(), pattern, i, row, factor, rule);
        for (Offset e = pattern.row_begin(i); e < pattern.row_end(i); ++e) entry_of_column[pattern.column(e)] = -1;
      }
    }
  });
}

}  // namespace taskdag::kernels
