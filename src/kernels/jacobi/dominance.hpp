/// \file
/// Dominance of the diagonal: the task of a row, and how it runs over all rows on either backend.
#pragma once

#include "backends/host/thread_pool.hpp"
#include "base/macros.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/dominance.hpp"

namespace taskdag::kernels {

/// A row, or a share of one.
struct DominanceRow {
  double diagonal = 0.0;
  double beside = 0.0;  ///< absolute values, summed up
  int diagonals = 0;

  TASKDAG_HD void add(bool on_diagonal, double value) {
    merge({on_diagonal ? value : 0.0, on_diagonal ? 0.0 : value < 0 ? -value : value, on_diagonal ? 1 : 0});
  }
  TASKDAG_HD void merge(const DominanceRow& other) {
    diagonal += other.diagonal;
    beside += other.beside;
    diagonals += other.diagonals;
  }
};

/// The entries of row i that `rank` of `size` threads collects.
TASKDAG_HD DominanceRow dominance_share(const CsrView& a, Index i, int rank, int size) {
  DominanceRow row;
  for (Offset e = a.pattern.row_offsets[i] + rank; e < a.pattern.row_offsets[i + 1]; e += size) {
    row.add(a.pattern.col_indices[e] == i, a.values[e]);
  }
  return row;
}

/// What a row counts for.
struct RowDominance {
  bool absent = false;
  bool zero = false;
  bool negative = false;
  bool strict = false;
  bool poor = false;
};

/// Of a whole row.
TASKDAG_HD RowDominance dominance_of(const DominanceRow& row, const DominanceLimits& limits) {
  RowDominance found;
  const double d = row.diagonal < 0 ? -row.diagonal : row.diagonal;
  // Neither infinite nor NaN, without a function that one of the compilers lacks.
  const bool finite = row.beside - row.beside == 0.0 && d - d == 0.0;
  found.absent = row.diagonals == 0;
  found.zero = !found.absent && (!finite || d == 0.0);
  if (found.absent || found.zero) return found;
  found.negative = row.diagonal < 0;
  found.strict = row.beside <= limits.strict * d;
  found.poor = row.beside > limits.poor * d;
  return found;
}

DiagonalDominance host_dominance(const CsrView& a, const DominanceLimits& limits, host::ThreadPool& pool);

}  // namespace taskdag::kernels
