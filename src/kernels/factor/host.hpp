/// \file
/// What the host executors of ILU(0) and IC(0) share: the pattern, the row at work, the published factor, the walk over
/// the rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/host/seam.hpp"
#include "base/index.hpp"
#include "dag/plan_executor.hpp"
#include "dag/split.hpp"
#include "kernels/factor/growth.hpp"
#include "kernels/factor/pivot.hpp"
#include "kernels/factor/state.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// The Pattern of the task bodies: an entry's position is that in a split pattern.
struct HostPattern {
  const Offset* lower;
  const Offset* upper;
  const Index* columns;
  Offset first_upper;
  Offset first_diagonal;
  explicit HostPattern(const SplitPattern& split)
      : lower(split.lower_offsets()),
        upper(split.upper_offsets()),
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

/// By column: the last row that was loaded with an entry there, and where that is. One per thread. What an earlier run
/// has left is right for this one, so no mark is ever taken away.
class ColumnMarks {
 public:
  explicit ColumnMarks(Index rows) : rows_(rows), marks_(std::make_unique_for_overwrite<Index[]>(2 * at(rows))) {
    std::fill_n(marks_.get(), at(rows), -1);
  }

  struct View {
    Index* row;
    Offset* entry;
    void set(Index i, Index column, Offset e) const {
      row[column] = i;
      entry[column] = e;
    }
    [[nodiscard]] HostRow loaded(const HostPattern&, double* values, Index i) const { return {values, row, entry, i}; }
  };
  [[nodiscard]] View view() { return {marks_.get(), marks_.get() + rows_}; }
  [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(sizeof(Index)) * 2 * rows_; }

 private:
  Index rows_;
  std::unique_ptr<Index[]> marks_;  // rows, then entries
};

template <class Marks>
std::vector<Marks> make_marks(int threads, Index rows) {
  std::vector<Marks> marks;
  marks.reserve(at(threads));
  for (int t = 0; t < threads; ++t) marks.emplace_back(rows);  // copies of one would be written twice
  return marks;
}

/// Memory of a factor with its pattern, inverse pivots and marks.
template <class Marks>
std::int64_t bytes_of_factor(const SplitPattern& pattern, const std::vector<Marks>& marks) {
  std::int64_t bytes =
      pattern.bytes() + static_cast<std::int64_t>(sizeof(double)) * (std::int64_t{pattern.entries()} + pattern.rows);
  for (const Marks& of_thread : marks) bytes += of_thread.bytes();
  return bytes;
}

/// The published factor, one for each thread: the executor has waited for the rows that are read here, and rows are
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
  /// Then, by row: how many values that are not of the pattern stand before it; null: none. The caller keeps them.
  const Offset* others = nullptr;

  /// Where row i begins. @pre entries is empty. `before`: entries of the pattern's rows before it
  [[nodiscard]] Offset begin(Index i, Offset before) const {
    if (!rows.empty()) return rows[at(i)];
    return others == nullptr ? before : before + others[i];
  }
  /// The position of row i's k-th entry, −1 for fill.
  [[nodiscard]] Offset position(Index i, Offset before, Offset k) const {
    return entries.empty() ? begin(i, before) + k : entries[at(before + k)];
  }
  [[nodiscard]] std::int64_t bytes() const {
    return static_cast<std::int64_t>(sizeof(Offset) * (entries.size() + rows.size()));
  }
};

/// Loads row i, value(k) for its k-th entry, and marks what is beside the diagonal.
template <class Pattern, class Marks, class Value>
[[gnu::always_inline]] inline void load_row(const Pattern& pattern, Index i, double* row, const Marks& marks,
                                            const DiagonalShift& shift, const Value& value) {
  Offset k = 0;
  const auto load = [&](Offset first, Offset last) {
    for (Offset e = first; e < last; ++e) {
      row[e] = value(k++);
      marks.set(i, pattern.column(e), e);
    }
  };
  load(pattern.lower_begin(i), pattern.lower_end(i));
  row[pattern.diagonal(i)] = shift.applied_to(value(k++));
  load(pattern.upper_begin(i), pattern.upper_end(i));
}

/// Loads every row in the executor's order (from values[source], fill with 0, the diagonal shifted) and calls
/// eliminate(pattern, i, row, factor). Executor: PlanExecutor or RowProgram.
template <class Executor, class Pattern, class Marks, class Eliminate>
void eliminate_rows(Executor& executor, const Pattern& shared, const HostFactor& published, std::vector<Marks>& marks,
                    const double* values, const ValueSource& source, const DiagonalShift& shift,
                    const Eliminate& eliminate) {
  executor.run([&](int thread, Index first, Index last) {
    // Copies, which no store through a pointer can change.
    const Pattern pattern = shared;
    const RowOrder order = executor.order();
    const Offset* const from = source.entries.empty() ? nullptr : source.entries.data();
    HostFactor factor = published;
    double* const rows = factor.values;
    const auto marked = marks[at(thread)].view();
    for (Index p = first; p < last; ++p) {
      const Index i = order[p];
      if (from != nullptr) {
        const Offset* const mine = from + pattern.before(i);
        load_row(pattern, i, rows, marked, shift, [&](Offset k) { return mine[k] < 0 ? 0.0 : values[mine[k]]; });
      } else {
        const double* const mine = values + source.begin(i, pattern.before(i));
        load_row(pattern, i, rows, marked, shift, [&](Offset k) { return mine[k]; });
      }
      eliminate(pattern, i, marked.loaded(pattern, rows, i), factor);
    }
    factor.findings->note(factor.growth);
  });
}

}  // namespace taskdag::kernels
