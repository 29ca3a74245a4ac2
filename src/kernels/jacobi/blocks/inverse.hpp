/// \file
/// The inverse of a dense block by Gauss–Jordan elimination with partial pivoting, and a row of its product with a
/// vector. Written once for every backend.
///
/// Rows are not exchanged. Step k takes as pivot the largest entry of column k among the rows that have been none yet,
/// and the column becomes that of the pivot row's unit vector. In the end row p_k of what stands in place of the block,
/// p_k being the pivot row of step k, is row k of the inverse, and its column j is column p_j.
#pragma once

#include <cfloat>
#include <climits>
#include <cstddef>

#include "base/macros.hpp"
#include "taskdag/status.hpp"

namespace taskdag::kernels {

/// Blocks stand side by side in *slices* of so many rows, column by column: entry (r, c) of a block whose first row has
/// place `first` of the slice is number c · kSliceRows + first + r. On CUDA a warp has a slice, a lane a row.
inline constexpr int kSliceRows = 32;

/// Of the blocks that have no inverse: rows of the matrix.
struct BlockFindings {
  Index first_zero = INT_MAX;
  Index last_zero = -1;
  Index first_non_finite = INT_MAX;
};

inline FactorStatus status_of(const BlockFindings& found) {
  FactorStatus status;
  status.last_row = found.last_zero;
  if (found.last_zero >= 0 && found.first_zero <= found.first_non_finite) {
    status.outcome = FactorOutcome::zero_pivot;
    status.first_row = found.first_zero;
  } else if (found.first_non_finite != INT_MAX) {
    status.outcome = FactorOutcome::non_finite;
    status.first_row = found.first_non_finite;
  }
  return status;
}

/// Neither a NaN nor an infinity.
TASKDAG_HD bool is_number(double value) { return value >= -DBL_MAX && value <= DBL_MAX; }

/// The pivot of a step.
struct BlockPivot {
  int row = -1;        ///< none: the block has no inverse
  bool finite = true;  ///< false: because of a NaN or an infinity
};

/// A block in a slice; m: its entry (0, 0).
struct DenseBlock {
  double* m;
  int size;

  [[nodiscard]] TASKDAG_HD double& entry(int row, int column) const { return m[column * kSliceRows + row]; }

  /// used: bit r is set where row r has been a pivot row.
  [[nodiscard]] TASKDAG_HD BlockPivot find_pivot(int step, unsigned used) const {
    BlockPivot pivot;
    double most = 0.0;
    for (int r = 0; r < size; ++r) {
      if ((used >> static_cast<unsigned>(r) & 1U) != 0U) continue;
      const double value = entry(r, step);
      const double magnitude = value < 0 ? -value : value;
      if (!(magnitude <= DBL_MAX)) return {-1, false};
      if (magnitude > most) {
        most = magnitude;
        pivot.row = r;
      }
    }
    return pivot;
  }

  /// The pivot row of a step, before the others.
  TASKDAG_HD void scale(int row, int step) const {
    const double pivot = entry(row, step);
    entry(row, step) = 1.0;
    for (int c = 0; c < size; ++c) entry(row, c) /= pivot;
  }

  /// Any other row. Factors of 0 are no exception: a NaN has to spread.
  TASKDAG_HD void eliminate(int row, int pivot_row, int step) const {
    const double factor = entry(row, step);
    entry(row, step) = 0.0;
    for (int c = 0; c < size; ++c) entry(row, c) -= factor * entry(pivot_row, c);
  }
};

/// Σ_c values[c · stride] · x(c) over c < size. x(c) is asked for up to `width`, the size of the largest block in the
/// slice: on CUDA by whole warps.
template <class Operand>
TASKDAG_HD double block_row(const double* values, std::ptrdiff_t stride, int size, int width, const Operand& x) {
  double sum = 0.0;
#if defined(__CUDA_ARCH__)
#pragma unroll 4
#endif
  for (int c = 0; c < width; ++c) {
    const double operand = x(c);
    if (c < size) sum += values[c * stride] * operand;
  }
  return sum;
}

}  // namespace taskdag::kernels
