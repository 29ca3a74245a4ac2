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
/// Ahead: pivot rows looked up together, before the first of them is waited for: what can be known without their values
/// (where their entries lie, which of them meet an entry of row i) is off the critical path, and values that are there
/// already are fetched with overlapping latencies.
/// Group: rank(), size(), sync(), sum(v): the threads that share the row.
/// Pattern: row_begin(i), diagonal(i), row_end(i) are entry positions, column(e) the column.
/// Row: row[e] and row.column(e) for e in [row_begin, row_end); find(column) gives the entry's position or -1.
/// Factor: peek_entry(e), peek_inverse_pivot(k) return what is there now; finish(k, inverse, e1, v1, e2, v2) returns when the
/// inverse pivot of row k and the entries e1 and e2 (-1: none) are published values; publish_entry and publish_pivot
/// write them.
/// Numbers follow PETSc's MatLUFactorNumeric for aij: a multiplier of exactly zero skips its row; the inverse of the
/// pivot is what is published.
template <int Ahead, class Group, class Pattern, class Row, class Factor>
TASKDAG_HD void ilu0_row(const Group& group, const Pattern& pattern, Index i, Row& row, const Factor& factor,
                         const PivotRule& rule) {
  const Offset begin = pattern.row_begin(i);
  const Offset diagonal = pattern.diagonal(i);
  const Offset end = pattern.row_end(i);

  for (Offset first = begin; first < diagonal; first += Ahead) {
    Index pivot_row[static_cast<unsigned>(Ahead)];
    Offset source[static_cast<unsigned>(Ahead)];  // this member's first entry of U's row
    Offset source_end[static_cast<unsigned>(Ahead)];
    Offset target[static_cast<unsigned>(Ahead)];  // the entry of row i below it, -1: none
    double inverse[static_cast<unsigned>(Ahead)];
    double entry[static_cast<unsigned>(Ahead)];
    TASKDAG_UNROLL
    for (int a = 0; a < Ahead; ++a) {
      target[a] = -1;
      entry[a] = inverse[a] = 0.0;
      pivot_row[a] = source[a] = source_end[a] = 0;
      if (first + a < diagonal) {
        pivot_row[a] = row.column(first + a);
        source[a] = pattern.diagonal(pivot_row[a]) + 1 + group.rank();
        source_end[a] = pattern.row_end(pivot_row[a]);
        inverse[a] = factor.peek_inverse_pivot(pivot_row[a]);
        if (source[a] < source_end[a]) target[a] = row.find(pattern.column(source[a]));
        if (target[a] >= 0) entry[a] = factor.peek_entry(source[a]);
      }
    }
    TASKDAG_UNROLL
    for (int a = 0; a < Ahead; ++a) {
      const Offset e = first + a;
      if (e >= diagonal) break;
      const double w = row[e];
      if (w == 0.0) continue;  // the same for the whole group
      factor.finish(pivot_row[a], inverse[a], -1, entry[a], target[a] >= 0 ? source[a] : -1, entry[a]);
      const double multiplier = w * inverse[a];
      if (target[a] >= 0) row[target[a]] -= multiplier * entry[a];
      for (Offset f = source[a] + group.size(); f < source_end[a]; f += group.size()) {
        const Offset other = row.find(pattern.column(f));
        if (other >= 0) row[other] -= multiplier * factor.wait_entry(f);
      }
      group.sync();
      if (group.rank() == 0) row[e] = multiplier;
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
  if (group.rank() == 0) factor.publish_pivot(i, diagonal, check_pivot(rule, i, row[diagonal], absolute_sum, factor));
}

}  // namespace taskdag::kernels
