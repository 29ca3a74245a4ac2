#include "kernels/ic0/host.hpp"

#include "kernels/ic0/task.hpp"

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
    : pattern_(pattern),
      above_(transpose(pattern)),
      values_(static_cast<std::size_t>(pattern.entries())),
      inverse_pivots_(static_cast<std::size_t>(pattern.rows)),
      runner_(std::make_shared<const ThreadPlan>(above_.view(), Triangle::lower, pool.processors()), pool),
      entry_of_column_(static_cast<std::size_t>(runner_.plan().threads()),
                       std::vector<Offset>(static_cast<std::size_t>(pattern.rows), -1)) {}

void HostIc0::factor(const double* values, const Offset* source, double shift, const PivotRule& rule,
                     Findings& findings) {
  findings.reset();
  const Pattern pattern{&pattern_, &above_};
  const Factor factor{values_.data(), inverse_pivots_.data(), &findings};
  const Index* const order = runner_.plan().order().data();
  runner_.run([&](int thread, Index first, Index last) {
    Offset* const entry_of_column = entry_of_column_[static_cast<std::size_t>(thread)].data();
    Row row{values_.data(), pattern_.col_indices, entry_of_column};
    for (Index p = first; p < last; ++p) {
      const Index k = order[p];
      for (Offset e = pattern.row_begin(k); e < pattern.row_end(k); ++e) {
        row[e] = values[source[e]];
        entry_of_column[pattern.column(e)] = e;
      }
      row[pattern.row_begin(k)] += shift;
      ic0_row<1, 1>(host::SingleThread(), pattern, k, row, factor, rule);
      for (Offset e = pattern.row_begin(k); e < pattern.row_end(k); ++e) entry_of_column[pattern.column(e)] = -1;
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
