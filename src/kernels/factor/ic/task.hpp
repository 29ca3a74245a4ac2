/// \file
/// The task of an IC(0) factorisation A ≈ Uᵀ D U on host threads: one row of U, up-looking. (On CUDA rows follow
/// prepared lists, see kernels/factor/cuda/lists.hpp.) Source: Saad, Iterative Methods for Sparse Linear Systems, 2nd
/// ed., section 10.3.2; the form without square roots is that of PETSc's MatCholeskyFactorNumeric for aij.
#pragma once

#include <cmath>

#include "base/macros.hpp"
#include "kernels/factor/pivot.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// Factorises row k of D·U in the workspace `row` (loaded with A's upper row, shift added) and publishes it unscaled:
/// entry (k, j) is d_k · u_kj. Row k of the unit Uᵀ goes to `transposed`.
///
/// Pattern: as in ilu/task.hpp, of the upper triangle alone; the entries of row k of Uᵀ: above_begin(k), above_end(k);
/// above_row(t), the column there, ascending; mirrored(t, row), the position of (row, k) in that row, asked for once
/// each.
/// kInTurn: rows come one after the other, so (row, k) is not read again: it is left as the unit U has it.
/// Otherwise that follows by a scaling with the published 1/d.
/// Row, Factor, diagonal_only, result: as in ilu/task.hpp; and factor.first_diagonal(), the matrix's entry (0, 0).
template <class Pattern, class Row, class Factor>
[[gnu::always_inline]] TASKDAG_HD bool ic0_row(const Pattern& pattern, Index k, const Row& row, double* transposed,
                                               Factor& factor, const PivotRule& rule, bool diagonal_only) {
  double pivot = row[pattern.diagonal(k)];
  const DiagonalEntry before{pivot, factor.first_diagonal()};
  bool changed = false;
  const Offset above_end = pattern.above_end(k);
  for (Offset t = pattern.above_begin(k); t < above_end; ++t) {
    const Index above = pattern.above_row(t);
    const Offset mirrored = pattern.mirrored(t, above);  // from there on its entries update row k
    const double entry = factor.entry(mirrored);
    const double multiplier = entry * factor.inverse_pivot(above);
    pivot -= multiplier * entry;
    transposed[t] = multiplier;
    if constexpr (Pattern::kInTurn) row[mirrored] = multiplier;
    if (diagonal_only) continue;
    const Offset end = pattern.upper_end(above);
    for (Offset f = mirrored + 1; f < end; ++f) {
      const Index column = pattern.column(f);
      if (!row.has(column)) continue;
      row[row.find(column)] -= multiplier * factor.entry(f);
      changed = true;
    }
  }
  double absolute_sum = 0.0;
  const Offset upper_end = pattern.upper_end(k);
  for (Offset e = pattern.upper_begin(k); e < upper_end; ++e) absolute_sum += std::abs(row[e]);
  pivot = check_pivot(rule, k, pivot, absolute_sum, before, factor);
  factor.note_row(0.0, absolute_sum, before.value, pivot);
  factor.publish_pivot(k, pattern.diagonal(k), pivot);
  return changed;
}

}  // namespace taskdag::kernels
