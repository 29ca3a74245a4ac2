/// \file
/// What the host executors of ILU(0) and IC(0) share: the pattern, the row at work, the published factor, the walk over
/// the rows.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/host/seam.hpp"
#include "base/index.hpp"
#include "dag/plan_runner.hpp"
#include "dag/split.hpp"
#include "kernels/factor/growth.hpp"
#include "kernels/factor/pivot.hpp"
#include "kernels/factor/state.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// The Pattern of the task bodies: an entry's position is its place in a split pattern.
struct HostPattern {
  const Offset* lower;
  const Offset* upper;
  const Index* columns;
  Offset first_upper;
  Offset first_diagonal;
  explicit HostPattern(const SplitPattern& split)
      : lower(split.lower_offsets.data()),
        upper(split.upper_offsets.data()),
        columns(split.columns.get()),
        first_upper(split.lower_entries()),
        first_diagonal(first_upper + split.upper_entries()) {}
  [[nodiscard]] Offset lower_begin(Index i) const { return lower[i]; }
  [[nodiscard]] Offset lower_end(Index i) const { return lower[i + 1]; }
  [[nodiscard]] Offset diagonal(Index i) const { return first_diagonal + i; }
  [[nodiscard]] Offset upper_begin(Index i) const { return first_upper + upper[i]; }
  [[nodiscard]] Offset upper_end(Index i) const { return first_upper + upper[i + 1]; }
  [[nodiscard]] Index column(Offset e) const { return columns[e]; }
  /// Entries of the rows before row i.
  [[nodiscard]] Offset before(Index i) const { return lower[i] + upper[i] + i; }
};

/// By column: the last row that was loaded with an entry there, and where that is. One per thread. What an earlier run
/// has left is right for this one, so no mark is ever taken away.
struct ColumnMarks {
  std::vector<Index> row;
  std::vector<Offset> entry;
};

inline std::vector<ColumnMarks> make_marks(int threads, Index rows) {
  return std::vector<ColumnMarks>(at(threads), {std::vector<Index>(at(rows), -1), std::vector<Offset>(at(rows))});
}

/// The Row of the task bodies: worked on in place.
struct HostRow {
  double* values;
  const Index* marked_by;
  const Offset* marked_entry;
  Index row;
  double& operator[](Offset e) const { return values[e]; }
  [[nodiscard]] bool has(Index column) const { return marked_by[column] == row; }
  [[nodiscard]] Offset find(Index column) const { return marked_entry[column]; }
};

/// Memory of a factor with its pattern, inverse pivots and marks.
inline std::int64_t bytes_of_factor(const SplitPattern& pattern, int threads) {
  return pattern.bytes() +
         static_cast<std::int64_t>(sizeof(double)) * (std::int64_t{pattern.entries()} + pattern.rows) +
         static_cast<std::int64_t>(sizeof(Index) + sizeof(Offset)) * threads * pattern.rows;
}

/// The published factor, one for each thread: the runner has waited for the rows that are read here, and rows are
/// worked on in place.
struct HostFactor {
  double* values;
  double* inverse_pivots;
  Findings* findings;
  double first = 0.0;
  Index before = -1;  ///< the row published last, whose pivot would come later through memory
  double inverse_before = 0.0;
  GrowthBound growth{};  ///< of the rows that were published
  [[nodiscard]] double first_diagonal() const { return first; }
  [[nodiscard]] double entry(Offset e) const { return values[e]; }
  [[nodiscard]] double inverse_pivot(Index k) const { return k == before ? inverse_before : inverse_pivots[k]; }
  void publish_pivot(Index i, Offset diagonal, double pivot) {
    values[diagonal] = pivot;
    before = i;
    inverse_before = 1.0 / pivot;
    inverse_pivots[i] = inverse_before;
  }
  void note_row(double lower, double upper, double diagonal, double pivot) {
    growth.note_row(lower, upper, diagonal, pivot);
  }
  void zero_pivot(Index i, double) const { findings->zero_pivot(i); }
  void shifted(Index) const { findings->shifted(); }
  void not_definite(Index i) const { findings->not_definite(i); }
  void non_finite(Index i) const { findings->non_finite(i); }
};

/// Where the entries of the pattern's rows, in the order of their columns, stand among the values that are given.
struct ValueSource {
  std::vector<Offset> entries;  ///< by entry: the position, −1 for fill; empty: rows stand as they are in the pattern
  std::vector<Offset> rows;     ///< then, by row: where it begins; empty: all rows of the pattern follow each other

  /// Where row i begins. @pre entries is empty. `before`: entries of the pattern's rows before it
  [[nodiscard]] Offset begin(Index i, Offset before) const { return rows.empty() ? before : rows[at(i)]; }
  /// The position of row i's k-th entry, −1 for fill.
  [[nodiscard]] Offset position(Index i, Offset before, Offset k) const {
    return entries.empty() ? begin(i, before) + k : entries[at(before + k)];
  }
  [[nodiscard]] std::int64_t bytes() const {
    return static_cast<std::int64_t>(sizeof(Offset) * (entries.size() + rows.size()));
  }
};

/// Loads row i, value(k) for its k-th entry, and marks what is beside the diagonal.
template <class Value>
[[gnu::always_inline]] inline void load_row(const HostPattern& pattern, Index i, double* row, Index* marked_by,
                                            Offset* marked_entry, const DiagonalShift& shift, const Value& value) {
  Offset k = 0;
  const auto load = [&](Offset first, Offset last) {
    for (Offset e = first; e < last; ++e) {
      const Index column = pattern.column(e);
      row[e] = value(k++);
      marked_by[column] = i;
      marked_entry[column] = e;
    }
  };
  load(pattern.lower_begin(i), pattern.lower_end(i));
  row[pattern.diagonal(i)] = shift.applied_to(value(k++));
  load(pattern.upper_begin(i), pattern.upper_end(i));
}

/// Loads every row in the runner's order (from values[source], fill with 0, the diagonal shifted) and calls
/// eliminate(pattern, i, row, factor). Runner: PlanRunner or RowProgram.
template <class Runner, class Pattern, class Eliminate>
void eliminate_rows(Runner& runner, const Pattern& shared, const HostFactor& published, std::vector<ColumnMarks>& marks,
                    const double* values, const ValueSource& source, const DiagonalShift& shift,
                    const Eliminate& eliminate) {
  const Index* const order = runner.order().data();
  const Offset* const from = source.entries.empty() ? nullptr : source.entries.data();
  runner.run([&](int thread, Index first, Index last) {
    const Pattern pattern = shared;  // copies, which no store through a pointer can change
    HostFactor factor = published;
    double* const rows = factor.values;
    Index* const marked_by = marks[at(thread)].row.data();
    Offset* const marked_entry = marks[at(thread)].entry.data();
    for (Index p = first; p < last; ++p) {
      const Index i = order[p];
      if (from != nullptr) {
        const Offset* const mine = from + pattern.before(i);
        load_row(pattern, i, rows, marked_by, marked_entry, shift,
                 [&](Offset k) { return mine[k] < 0 ? 0.0 : values[mine[k]]; });
      } else {
        const double* const mine = values + source.begin(i, pattern.before(i));
        load_row(pattern, i, rows, marked_by, marked_entry, shift, [&](Offset k) { return mine[k]; });
      }
      eliminate(pattern, i, HostRow{rows, marked_by, marked_entry, i}, factor);
    }
    factor.findings->note(factor.growth);
  });
}

}  // namespace taskdag::kernels
