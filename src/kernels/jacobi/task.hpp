/// \file
/// The tasks of damped Jacobi sweeps: a row's diagonal term, and one sweep of one row. Written once for every backend.
#pragma once

#include "base/macros.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/jacobi.hpp"

namespace taskdag::kernels {

/// What the diagonal term of a row is made from. Shares of a row can be collected apart and merged.
struct JacobiRow {
  double diagonal = 0.0;
  double largest = 0.0;
  double sum = 0.0;  ///< row_sum: of the values, else of what is beside the diagonal, absolute

  TASKDAG_HD void add(bool on_diagonal, double value, JacobiDiagonal kind) {
    const double magnitude = value < 0 ? -value : value;
    merge({on_diagonal ? value : 0.0, magnitude,
           kind == JacobiDiagonal::row_sum ? value
           : on_diagonal                   ? 0.0
                                           : magnitude});
  }
  TASKDAG_HD void merge(const JacobiRow& other) {
    diagonal += other.diagonal;  // at most one of all shares is not 0
    if (largest < other.largest) largest = other.largest;
    sum += other.sum;
  }
  /// A share of the row of which all is known that counts: JacobiOptions::outside.
  TASKDAG_HD void add_outside(double value) { merge({0.0, value, value}); }
  /// The number d that stands for the diagonal, PETSc's conventions: 0 where the diagonal entry is absent; row_l1 takes
  /// its sign, so that d · a_ii stays positive.
  [[nodiscard]] TASKDAG_HD double term(JacobiDiagonal kind, double l1_scale) const {
    switch (kind) {
      case JacobiDiagonal::row_max:
        return largest;
      case JacobiDiagonal::row_sum:
        return sum;
      case JacobiDiagonal::row_l1:
        return diagonal + l1_scale * (diagonal < 0 ? -sum : sum);
      case JacobiDiagonal::diagonal:
        break;
    }
    return diagonal;
  }
};

/// The entries of row i that `rank` of `size` threads collects.
TASKDAG_HD JacobiRow jacobi_share(const CsrView& a, JacobiDiagonal kind, Index i, int rank, int size) {
  JacobiRow row;
  for (Offset e = a.pattern.row_offsets[i] + rank; e < a.pattern.row_offsets[i + 1]; e += size) {
    row.add(a.pattern.col_indices[e] == i, a.values[e], kind);
  }
  return row;
}

/// 1/d, or 1 for d = 0 (which the caller counts by asking d == 0); absolute: of |d|.
TASKDAG_HD double jacobi_inverse(double d, bool absolute) {
  if (d == 0.0) return 1.0;
  return 1.0 / (absolute && d < 0 ? -d : d);
}

/// b_i − Σ_j a_ij x_j. Group: the threads that share a row: rank(), size(), sum(value).
template <class Group>
TASKDAG_HD double residual_row(const Group& group, const CsrView& a, Index i, const double* x, double b) {
  double sum = 0.0;
  for (Offset e = a.pattern.row_offsets[i] + group.rank(); e < a.pattern.row_offsets[i + 1]; e += group.size()) {
    sum += a.values[e] * x[a.pattern.col_indices[e]];
  }
  return b - group.sum(sum);
}

/// x_i + scale · (b_i − Σ_j a_ij x_j), with scale = damping / d_i.
template <class Group>
TASKDAG_HD double jacobi_row(const Group& group, const CsrView& a, Index i, const double* x, double b, double scale) {
  return x[i] + scale * residual_row(group, a, i, x, b);
}

}  // namespace taskdag::kernels
