/// \file
/// The task of an IC(0) factorisation A ≈ Uᵀ D U on host threads: one row of U, up-looking. (On CUDA rows follow
/// prepared lists, see kernels/factor/cuda/lists.hpp.) Source: Saad, Iterative Methods for Sparse Linear Systems, 2nd
/// ed., section 10.3.2; the form without square roots is that of PETSc's MatCholeskyFactorNumeric for aij.
#pragma once

#include "kernels/factor/pivot.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// Factorises row k of D·U in the workspace `row` (loaded with A's upper row, shift added) and publishes it unscaled:
/// entry (k, j) is d_k · u_kj; the unit U follows by a scaling with the published 1/d_k.
///
/// Pattern: of the upper triangle, diagonal entry first: row_begin(k) is the diagonal's position, row_end(k),
/// column(e); the rows above that reach column k, ascending: above_begin(k), above_end(k), above_row(t), and
/// above_entry(t), the position of (row, k) in its row.
/// Row, Factor, diagonal_only, result: as in ilu/task.hpp; and factor.first_diagonal(), the matrix's entry (0, 0).
template <class Pattern, class Row, class Factor>
bool ic0_row(const Pattern& pattern, Index k, Row& row, const Factor& factor, const PivotRule& rule,
             bool diagonal_only) {
  const Offset diagonal = pattern.row_begin(k);
  const DiagonalEntry before{row[diagonal], factor.first_diagonal()};
  bool changed = false;
  for (Offset t = pattern.above_begin(k); t < pattern.above_end(k); ++t) {
    const Index above = pattern.above_row(t);
    const Offset meeting = pattern.above_entry(t);  // from there on its entries update row k
    const double multiplier = factor.entry(meeting) * factor.inverse_pivot(above);
    row[diagonal] -= multiplier * factor.entry(meeting);
    if (diagonal_only) continue;
    for (Offset f = meeting + 1; f < pattern.row_end(above); ++f) {
      const Offset target = row.find(pattern.column(f));
      if (target < 0) continue;
      row[target] -= multiplier * factor.entry(f);
      changed = true;
    }
  }
  double absolute_sum = 0.0;
  for (Offset e = diagonal + 1; e < pattern.row_end(k); ++e) absolute_sum += row[e] < 0 ? -row[e] : row[e];
  factor.publish_pivot(k, diagonal, check_pivot(rule, k, row[diagonal], absolute_sum, before, factor));
  return changed;
}

}  // namespace taskdag::kernels
