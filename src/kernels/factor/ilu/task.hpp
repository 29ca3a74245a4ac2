/// \file
/// The task of an ILU(0) factorisation on host threads: one row, up-looking. (On CUDA rows follow prepared lists, see
/// kernels/factor/cuda/lists.hpp.)
/// Source: Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm 10.4 (IKJ variant).
#pragma once

#include "kernels/factor/pivot.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// Factorises row i in the workspace `row` (loaded with A's row, shift added) and publishes it.
///
/// Pattern: row_begin(i), diagonal(i), row_end(i) are entry positions, column(e) the column. Row: row[e] for e in
/// [row_begin, row_end); find(column) gives the position of that column's entry, -1 if the row has none. Factor:
/// entry(e) and inverse_pivot(k) of finished rows, publish_pivot(i, e, pivot). Numbers follow PETSc's
/// MatLUFactorNumeric for aij: a multiplier of exactly zero skips its row; the inverse of the pivot is what is
/// published. diagonal_only: see FactorOptions.
/// @returns whether elimination has changed an entry beside the diagonal
template <class Pattern, class Row, class Factor>
bool ilu0_row(const Pattern& pattern, Index i, Row& row, const Factor& factor, const PivotRule& rule,
              bool diagonal_only) {
  const Offset diagonal = pattern.diagonal(i);
  double absolute_sum = 0.0;
  bool changed = false;
  for (Offset e = pattern.row_begin(i); e < diagonal; ++e) {
    if (row[e] == 0.0) continue;
    const Index k = pattern.column(e);
    const double multiplier = row[e] * factor.inverse_pivot(k);
    for (Offset f = pattern.diagonal(k) + 1; f < pattern.row_end(k); ++f) {
      const Offset target = row.find(pattern.column(f));
      if (target < 0 || (diagonal_only && target != diagonal)) continue;
      row[target] -= multiplier * factor.entry(f);
      changed = changed || target != diagonal;
    }
    row[e] = multiplier;
    absolute_sum += multiplier < 0 ? -multiplier : multiplier;
  }
  for (Offset e = diagonal + 1; e < pattern.row_end(i); ++e) absolute_sum += row[e] < 0 ? -row[e] : row[e];
  factor.publish_pivot(i, diagonal, check_pivot(rule, i, row[diagonal], absolute_sum, {}, factor));
  return changed;
}

}  // namespace taskdag::kernels
