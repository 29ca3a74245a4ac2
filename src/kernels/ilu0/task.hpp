/// \file
/// The task of an ILU(0) factorisation: one row, up-looking. Written once for every backend.
/// Source: Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm 10.4 (IKJ variant).
#pragma once

#include "base/macros.hpp"
#include "kernels/pivot.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// Factorises row i in the workspace `row` (loaded with A's row, shift added) and publishes it.
///
/// Group: rank(), size(), sync(), sum(v): the threads that share the row.
/// Pattern: row_begin(i), diagonal(i), row_end(i) are entry positions, column(e) the column.
/// Row: row[e] for e in [row_begin, row_end); find(column) gives the entry's position or -1.
/// Factor: wait_entry(e) and wait_inverse_pivot(k) return published values; publish_entry, publish_pivot write them.
/// Numbers follow PETSc's MatLUFactorNumeric for aij: a multiplier of exactly zero skips its row; the inverse of the
/// pivot is what is published.
template <class Group, class Pattern, class Row, class Factor>
TASKDAG_HD void ilu0_row(const Group& group, const Pattern& pattern, Index i, Row& row, const Factor& factor,
                         const PivotRule& rule) {
  const Offset begin = pattern.row_begin(i);
  const Offset diagonal = pattern.diagonal(i);
  const Offset end = pattern.row_end(i);

  for (Offset e = begin; e < diagonal; ++e) {
    const double w = row[e];
    if (w == 0.0) continue;  // the same for the whole group
    const Index k = pattern.column(e);
    const Offset k_end = pattern.row_end(k);
    const double multiplier = w * factor.wait_inverse_pivot(k);
    for (Offset f = pattern.diagonal(k) + 1 + group.rank(); f < k_end; f += group.size()) {
      const Offset target = row.find(pattern.column(f));
      if (target >= 0) row[target] -= multiplier * factor.wait_entry(f);
    }
    group.sync();
    if (group.rank() == 0) row[e] = multiplier;
  }
  group.sync();

  double absolute_sum = 0.0;
  for (Offset e = begin + group.rank(); e < end; e += group.size()) {
    if (e != diagonal) {
      absolute_sum += row[e] < 0 ? -row[e] : row[e];
      factor.publish_entry(e, row[e]);
    }
  }
  absolute_sum = group.sum(absolute_sum);
  if (group.rank() == 0) factor.publish_pivot(i, diagonal, check_pivot(rule, i, row[diagonal], absolute_sum, factor));
}

}  // namespace taskdag::kernels
