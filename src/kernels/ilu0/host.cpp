#include "kernels/ilu0/host.hpp"

#include "kernels/ilu0/task.hpp"

namespace taskdag::kernels {

namespace {

struct Row {
  double* values;
  const Index* columns;
  const Offset* entry_of_column;
  double& operator[](Offset e) const { return values[e]; }
  static constexpr bool active() { return true; }
  [[nodiscard]] Index column(Offset e) const { return columns[e]; }
  void find(const Index (&column)[1][1], Offset (&position)[1][1]) const {
    position[0][0] = column[0][0] < 0 ? -1 : entry_of_column[column[0][0]];
  }
};

/// The seam: the plan has waited for the rows that are read here, so the waits are plain reads.
struct Factor {
  double* values;
  double* inverse_pivots;
  Findings* findings;
  [[nodiscard]] double wait_entry(Offset e) const { return values[e]; }
  [[nodiscard]] double peek_entry(Offset e) const { return values[e]; }
  [[nodiscard]] double peek_inverse_pivot(Index k) const { return inverse_pivots[k]; }
  template <class... Batch>
  void finish(const Batch&...) const {}
  void publish_entry(Offset, double) const {}  // the row is worked on in place
  void publish_pivot(Index i, Offset diagonal, double pivot) const {
    values[diagonal] = pivot;
    inverse_pivots[i] = 1.0 / pivot;
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
    : pattern_(pattern),
      diagonal_(diagonal_entries(pattern)),
      values_(static_cast<std::size_t>(pattern.entries())),
      inverse_pivots_(static_cast<std::size_t>(pattern.rows)),
      runner_(std::make_shared<const ThreadPlan>(pattern, Triangle::lower, pool.processors()), pool),
      entry_of_column_(static_cast<std::size_t>(runner_.plan().threads()),
                       std::vector<Offset>(static_cast<std::size_t>(pattern.rows), -1)) {}

void HostIlu0::factor(const double* values, const Offset* source, double shift, const PivotRule& rule,
                      Findings& findings) {
  findings.reset();
  const Pattern pattern{&pattern_, diagonal_.data()};
  const Factor factor{values_.data(), inverse_pivots_.data(), &findings};
  const Index* const order = runner_.plan().order().data();
  runner_.run([&](int thread, Index first, Index last) {
    Offset* const entry_of_column = entry_of_column_[static_cast<std::size_t>(thread)].data();
    Row row{values_.data(), pattern_.col_indices, entry_of_column};
    for (Index p = first; p < last; ++p) {
      const Index i = order[p];
      for (Offset e = pattern.row_begin(i); e < pattern.row_end(i); ++e) {
        row[e] = values[source[e]];
        entry_of_column[pattern.column(e)] = e;
      }
      row[pattern.diagonal(i)] += shift;
      ilu0_row<1, 1>(host::SingleThread(), pattern, i, row, factor, rule);
      for (Offset e = pattern.row_begin(i); e < pattern.row_end(i); ++e) entry_of_column[pattern.column(e)] = -1;
    }
  });
}

}  // namespace taskdag::kernels
