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
/// Ahead, Group, Row, Factor: as in ilu0/task.hpp.
template <int Ahead, class Group, class Pattern, class Row, class Factor>
TASKDAG_HD void ic0_row(const Group& group, const Pattern& pattern, Index k, Row& row, const Factor& factor,
                        const PivotRule& rule) {
  const Offset diagonal = pattern.row_begin(k);
  const Offset end = pattern.row_end(k);
  const Offset above_end = pattern.above_end(k);

  for (Offset first = pattern.above_begin(k); first < above_end; first += Ahead) {
    Index pivot_row[static_cast<unsigned>(Ahead)];
    Offset meeting[static_cast<unsigned>(Ahead)];  // the entry (pivot row, k); the entries from there on update row k, diagonal first
    Offset source_end[static_cast<unsigned>(Ahead)];
    Offset target[static_cast<unsigned>(Ahead)];
    double inverse[static_cast<unsigned>(Ahead)];
    double factor_entry[static_cast<unsigned>(Ahead)];
    double entry[static_cast<unsigned>(Ahead)];
    TASKDAG_UNROLL
    for (int a = 0; a < Ahead; ++a) {
      target[a] = -1;
      entry[a] = factor_entry[a] = inverse[a] = 0.0;
      pivot_row[a] = meeting[a] = source_end[a] = 0;
      if (first + a < above_end) {
        pivot_row[a] = pattern.above_row(first + a);
        meeting[a] = pattern.above_entry(first + a);
        source_end[a] = pattern.row_end(pivot_row[a]);
        inverse[a] = factor.peek_inverse_pivot(pivot_row[a]);
        factor_entry[a] = factor.peek_entry(meeting[a]);
        const Offset source = meeting[a] + group.rank();
        if (source < source_end[a]) target[a] = row.find(pattern.column(source));
        if (target[a] >= 0) entry[a] = factor.peek_entry(source);
      }
    }
    TASKDAG_UNROLL
    for (int a = 0; a < Ahead; ++a) {
      if (first + a >= above_end) break;
      const Offset source = meeting[a] + group.rank();
      factor.finish(pivot_row[a], inverse[a], meeting[a], factor_entry[a], target[a] >= 0 ? source : -1, entry[a]);
      const double multiplier = factor_entry[a] * inverse[a];
      if (target[a] >= 0) row[target[a]] -= multiplier * entry[a];
      for (Offset f = source + group.size(); f < source_end[a]; f += group.size()) {
        const Offset other = row.find(pattern.column(f));
        if (other >= 0) row[other] -= multiplier * factor.wait_entry(f);
      }
      group.sync();
    }
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
