/// \file
/// The task of an ILU(0) factorisation on host threads, and over ranks: one row, up-looking. (On one GPU rows follow
/// prepared lists, see kernels/factor/cuda/lists.hpp.)
/// Source: Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm 10.4 (IKJ variant).
#pragma once

#include <cmath>

#include "base/macros.hpp"
#include "kernels/factor/pivot.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// Factorises row i in the workspace `row` (loaded with A's row, shift added) and publishes it.
///
/// Pattern: positions of row i's entries are [lower_begin(i), lower_end(i)), diagonal(i), [upper_begin(i),
/// upper_end(i)); column(e) is the column of one beside the diagonal. Row: row[e] at these; has(column) says whether
/// there is one beside the diagonal, find(column) where. Factor: entry(e) and inverse_pivot(k) of finished rows,
/// publish_pivot(i, e, pivot), note_row() as of GrowthBound. Numbers follow PETSc's MatLUFactorNumeric for aij: a
/// multiplier of exactly zero skips its row; the inverse of the pivot is what is published. diagonal_only: see
/// FactorOptions.
/// @returns whether elimination has changed an entry beside the diagonal
template <class Pattern, class Row, class Factor>
[[gnu::always_inline]] TASKDAG_HD bool ilu0_row(const Pattern& pattern, Index i, const Row& row, Factor& factor,
                                                const PivotRule& rule, bool diagonal_only) {
  const double diagonal = row[pattern.diagonal(i)];
  double pivot = diagonal;
  double absolute_sum = 0.0;
  bool changed = false;
  const Offset lower_end = pattern.lower_end(i);
  for (Offset e = pattern.lower_begin(i); e < lower_end; ++e) {
    if (row[e] == 0.0) continue;
    const Index k = pattern.column(e);
    const double multiplier = row[e] * factor.inverse_pivot(k);
    const Offset end = pattern.upper_end(k);
    for (Offset f = pattern.upper_begin(k); f < end; ++f) {
      const Index column = pattern.column(f);
      if (column == i) {
        pivot -= multiplier * factor.entry(f);
      } else if (row.has(column) && !diagonal_only) {
        row[row.find(column)] -= multiplier * factor.entry(f);
        changed = true;
      }
    }
    row[e] = multiplier;
    absolute_sum += std::abs(multiplier);
  }
  const double lower_sum = absolute_sum;
  const Offset upper_end = pattern.upper_end(i);
  for (Offset e = pattern.upper_begin(i); e < upper_end; ++e) absolute_sum += std::abs(row[e]);
  pivot = check_pivot(rule, i, pivot, absolute_sum, {}, factor);
  factor.note_row(lower_sum, absolute_sum - lower_sum, diagonal, pivot);
  factor.publish_pivot(i, pattern.diagonal(i), pivot);
  return changed;
}

}  // namespace taskdag::kernels
