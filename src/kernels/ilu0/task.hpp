/// \file
/// The task of an ILU(0) factorisation: one row, up-looking. Written once for every backend.
/// Source: Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm 10.4 (IKJ variant).
#pragma once

#include "base/macros.hpp"
#include "kernels/pivot.hpp"
#include "kernels/update_lookup.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// Factorises row i in the workspace `row` (loaded with A's row, shift added) and publishes it.
///
/// The group works on several pivot rows side by side: it is cut into parts() of members() threads, part() and member()
/// say where this thread is. A batch is Rounds pivot rows for each part. What can be known of them without their values
/// is found first, then the whole batch is waited for, then it is eliminated in ascending order. Width: entries of a
/// pivot row per thread that this is done for; longer rows are finished as they come. Group, further: sync(), sum(v),
/// leader(); most(v): largest v among all groups that run in lockstep; loops that call sync() run that often in each of
/// them. Pattern: row_begin(i), diagonal(i), row_end(i) are entry positions, column(e) the column. Row: row[e] and
/// row.column(e) for e in [row_begin, row_end); find(columns, positions) gives the positions of several columns'
/// entries, -1 for those it has not; active() is false for a group without a row, which only keeps the others company.
/// Factor: peek_entry(e), peek_inverse_pivot(k) return what is there now; finish(group, k, inverse, lookup) returns
/// when the inverse pivots of the rows k (-1: none) and the entries looked up are published values; wait_entry(e) waits
/// for one; publish_entry and publish_pivot write them. Numbers follow PETSc's MatLUFactorNumeric for aij: a multiplier
/// of exactly zero skips its row; the inverse of the pivot is what is published.
template <int Rounds, int Width, class Group, class Pattern, class Row, class Factor>
TASKDAG_HD void ilu0_row(const Group& group, const Pattern& pattern, Index i, Row& row, const Factor& factor,
                         const PivotRule& rule) {
  const Offset begin = row.active() ? pattern.row_begin(i) : 0;
  const Offset diagonal = row.active() ? pattern.diagonal(i) : 0;
  const Offset end = row.active() ? pattern.row_end(i) : 0;
  const Offset most = group.most(diagonal - begin);

  for (Offset first = 0; first < most; first += Rounds * group.parts()) {
    Index pivot_row[static_cast<unsigned>(Rounds)];
    double inverse[static_cast<unsigned>(Rounds)];
    UpdateLookup<Rounds, Width> lookup;
    TASKDAG_UNROLL
    for (int r = 0; r < Rounds; ++r) {
      const Offset e = begin + first + r * group.parts() + group.part();
      pivot_row[r] = -1;
      inverse[r] = 0.0;
      lookup.clear(r);
      if (e < diagonal) {
        pivot_row[r] = row.column(e);
        inverse[r] = factor.peek_inverse_pivot(pivot_row[r]);
        lookup.set(group, r, pattern.diagonal(pivot_row[r]) + 1, pattern.row_end(pivot_row[r]));
      }
    }
    lookup.look(group, pattern, row, factor);
    factor.finish(group, pivot_row, inverse, lookup);
    TASKDAG_UNROLL
    for (int r = 0; r < Rounds; ++r) {
      for (Offset q = 0; q < group.parts(); ++q) {
        const Offset step = first + r * group.parts() + q;
        if (step >= most) break;
        const Offset e = begin + step;
        const bool mine = q == group.part() && e < diagonal;
        const double w = mine ? row[e] : 0.0;
        if (w != 0.0) lookup.apply(group, pattern, row, factor, r, w * inverse[r]);
        group.sync();
        if (w != 0.0 && group.member() == 0) row[e] = w * inverse[r];
      }
    }
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
  if (group.rank() == 0 && row.active()) {
    factor.publish_pivot(i, diagonal, check_pivot(rule, i, row[diagonal], absolute_sum, factor));
  }
}

}  // namespace taskdag::kernels
