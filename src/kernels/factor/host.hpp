/// \file
/// What the host executors of ILU(0) and IC(0) share: the row at work, the published factor, the walk over the rows.
#pragma once

#include <vector>

#include "backends/host/seam.hpp"
#include "dag/plan_runner.hpp"
#include "kernels/factor/pivot.hpp"
#include "kernels/factor/state.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// The Row of the task bodies: worked on in place, entries found through an array over the columns.
struct HostRow {
  double* values;
  const Offset* entry_of_column;
  double& operator[](Offset e) const { return values[e]; }
  [[nodiscard]] Offset find(Index column) const { return entry_of_column[column]; }
};

/// The published factor: the runner has waited for the rows that are read here, and rows are worked on in place.
struct HostFactor {
  double* values;
  double* inverse_pivots;
  Findings* findings;
  double first = 0.0;
  [[nodiscard]] double first_diagonal() const { return first; }
  [[nodiscard]] double entry(Offset e) const { return values[e]; }
  [[nodiscard]] double inverse_pivot(Index k) const { return inverse_pivots[k]; }
  void publish_pivot(Index i, Offset diagonal, double pivot) const {
    values[diagonal] = pivot;
    inverse_pivots[i] = 1.0 / pivot;
  }
  void zero_pivot(Index i, double) const { findings->zero_pivot(i); }
  void shifted(Index) const { findings->shifted(); }
  void not_definite(Index i) const { findings->not_definite(i); }
  void non_finite(Index i) const { findings->non_finite(i); }
};

/// Loads every row in the runner's order (entry e starts as values[source[e]], or 0 where source[e] is −1, the diagonal
/// shifted) and calls eliminate(i, row). entry_of_column: per thread, by column, all −1 before and after.
/// Runner: PlanRunner or RowProgram.
template <class Runner, class Pattern, class Eliminate>
void eliminate_rows(Runner& runner, const Pattern& pattern, std::vector<std::vector<Offset>>& entry_of_column,
                    double* factor, const double* values, const Offset* source, const DiagonalShift& shift,
                    const Eliminate& eliminate) {
  const Index* const order = runner.order().data();
  runner.run([&](int thread, Index first, Index last) {
    Offset* const entry = entry_of_column[static_cast<std::size_t>(thread)].data();
    HostRow row{factor, entry};
    for (Index p = first; p < last; ++p) {
      const Index i = order[p];
      for (Offset e = pattern.row_begin(i); e < pattern.row_end(i); ++e) {
        row[e] = source[e] < 0 ? 0.0 : values[source[e]];
        entry[pattern.column(e)] = e;
      }
      double& diagonal = row[pattern.diagonal(i)];
      diagonal = shift.applied_to(diagonal);
      eliminate(i, row);
      for (Offset e = pattern.row_begin(i); e < pattern.row_end(i); ++e) entry[pattern.column(e)] = -1;
    }
  });
}

}  // namespace taskdag::kernels
