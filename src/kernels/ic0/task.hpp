/// \file
/// The task of an IC(0) factorisation A ≈ Uᵀ D U: one row of U, up-looking. Written once for every backend.
/// Source: Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., section 10.3.2; the form without square roots
/// is that of PETSc's MatCholeskyFactorNumeric for aij.
#pragma once

#include "base/macros.hpp"
#include "kernels/pivot.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// Factorises row k of D·U in the workspace `row` (loaded with A's upper row, shift added) and publishes it unscaled:
/// entry (k, j) is d_k · u_kj; the unit U follows by a scaling with the published 1/d_k.
///
/// Pattern: of the upper triangle, diagonal entry first: row_begin(k) is the diagonal's position, row_end(k),
/// column(e); the rows above that reach column k, ascending: above_begin(k), above_end(k), above_row(t), and
/// above_entry(t), the position of (row, k) in its row.
/// Group, Row, Factor: as in ilu0/task.hpp.
template <class Group, class Pattern, class Row, class Factor>
TASKDAG_HD void ic0_row(const Group& group, const Pattern& pattern, Index k, Row& row, const Factor& factor,
                        const PivotRule& rule) {
  const Offset diagonal = pattern.row_begin(k);
  const Offset end = pattern.row_end(k);

  for (Offset t = pattern.above_begin(k); t < pattern.above_end(k); ++t) {
    const Index i = pattern.above_row(t);
    const Offset entry = pattern.above_entry(t);
    const Offset i_end = pattern.row_end(i);
    const double multiplier = factor.wait_entry(entry) * factor.wait_inverse_pivot(i);
    for (Offset f = entry + group.rank(); f < i_end; f += group.size()) {  // the first one updates the diagonal
      const Offset target = row.find(pattern.column(f));
      if (target >= 0) row[target] -= multiplier * factor.wait_entry(f);
    }
    group.sync();
  }

  double absolute_sum = 0.0;
  for (Offset e = diagonal + 1 + group.rank(); e < end; e += group.size()) {
    absolute_sum += row[e] < 0 ? -row[e] : row[e];
    factor.publish_entry(e, row[e]);
  }
  absolute_sum = group.sum(absolute_sum);
  if (group.rank() == 0) factor.publish_pivot(k, diagonal, check_pivot(rule, k, row[diagonal], absolute_sum, factor));
}

}  // namespace taskdag::kernels
