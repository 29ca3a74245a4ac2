/// \file
/// The task of an IC(0) factorisation A ≈ Uᵀ D U: one row of U, up-looking. Written once for every backend.
/// Source: Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., section 10.3.2; the form without square roots
/// is that of PETSc's MatCholeskyFactorNumeric for aij.
#pragma once

#include "base/macros.hpp"
#include "kernels/pivot.hpp"
#include "kernels/update_lookup.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// Factorises row k of D·U in the workspace `row` (loaded with A's upper row, shift added) and publishes it unscaled:
/// entry (k, j) is d_k · u_kj; the unit U follows by a scaling with the published 1/d_k.
///
/// Pattern: of the upper triangle, diagonal entry first: row_begin(k) is the diagonal's position, row_end(k),
/// column(e); the rows above that reach column k, ascending: above_begin(k), above_end(k), above_row(t), and
/// above_entry(t), the position of (row, k) in its row.
/// Rounds, Width, Group, Row, Factor: as in ilu0/task.hpp.
template <int Rounds, int Width, class Group, class Pattern, class Row, class Factor>
TASKDAG_HD void ic0_row(const Group& group, const Pattern& pattern, Index k, Row& row, const Factor& factor,
                        const PivotRule& rule) {
  const Offset diagonal = row.active() ? pattern.row_begin(k) : 0;
  const Offset end = row.active() ? pattern.row_end(k) : 0;
  const Offset above_begin = row.active() ? pattern.above_begin(k) : 0;
  const Offset above_end = row.active() ? pattern.above_end(k) : 0;
  const Offset most = group.most(above_end - above_begin);

  for (Offset first = 0; first < most; first += Rounds * group.parts()) {
    Index pivot_row[static_cast<unsigned>(Rounds)];
    Offset meeting[static_cast<unsigned>(Rounds)];  // the entry (pivot row, k); from there on entries update row k
    double inverse[static_cast<unsigned>(Rounds)];
    double factor_entry[static_cast<unsigned>(Rounds)];
    UpdateLookup<Rounds, Width> lookup;
    TASKDAG_UNROLL
    for (int r = 0; r < Rounds; ++r) {
      const Offset t = above_begin + first + r * group.parts() + group.part();
      pivot_row[r] = meeting[r] = -1;
      inverse[r] = factor_entry[r] = 0.0;
      lookup.clear(r);
      if (t < above_end) {
        pivot_row[r] = pattern.above_row(t);
        meeting[r] = pattern.above_entry(t);
        inverse[r] = factor.peek_inverse_pivot(pivot_row[r]);
        factor_entry[r] = factor.peek_entry(meeting[r]);
        lookup.set(group, r, meeting[r], pattern.row_end(pivot_row[r]));
      }
    }
    lookup.look(group, pattern, row, factor);
    factor.finish(group, pivot_row, inverse, lookup, meeting, factor_entry);
    TASKDAG_UNROLL
    for (int r = 0; r < Rounds; ++r) {
      for (Offset q = 0; q < group.parts(); ++q) {  // one part after the other: two pivot rows may meet the same entry
        if (first + r * group.parts() + q >= most) break;
        if (q == group.part() && pivot_row[r] >= 0) {
          lookup.apply(group, pattern, row, factor, r, factor_entry[r] * inverse[r]);
        }
        group.sync();
      }
    }
  }

  double absolute_sum = 0.0;
  for (Offset e = diagonal + 1 + group.rank(); e < end; e += group.size()) {
    absolute_sum += row[e] < 0 ? -row[e] : row[e];
    factor.publish_entry(e, row[e]);
  }
  absolute_sum = group.sum(absolute_sum);
  if (group.rank() == 0 && row.active()) {
    factor.publish_pivot(k, diagonal, check_pivot(rule, k, row[diagonal], absolute_sum, factor));
  }
}

}  // namespace taskdag::kernels
