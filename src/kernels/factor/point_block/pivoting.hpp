/// \file
/// What a factorisation by point blocks does with diagonal blocks: those of reals are inverted with exchanges of rows,
/// complex numbers are pivots as in a scalar factorisation.
#pragma once

#include <cmath>

#include "kernels/factor/pivot.hpp"
#include "kernels/factor/point_block/block.hpp"

namespace taskdag::kernels::point_block {

/// Of one attempt.
struct Pivoting {
  double amount = 0.0;          ///< above 0: pivots of 0 in a block take a shift
  bool complex_blocks = false;  ///< FactorOptions
  bool numbers = false;         ///< blocks of two rows are complex numbers, checked by:
  PivotRule rule{};
  double shift = 0.0;          ///< added to the whole diagonal
  bool diagonal_only = false;  ///< FactorOptions

  /// Element (r, c) of a transposed block, from that of the real one.
  [[nodiscard]] TASKDAG_HD double transposed(double element, int r, int c) const {
    return complex_blocks ? not_conjugated(element, r, c) : element;
  }
  /// Whether a pivot is held against its row.
  [[nodiscard]] TASKDAG_HD bool needs_sum() const {
    return rule.shift == ShiftType::nonzero || rule.shift == ShiftType::positive_definite;
  }
};

/// |z| of the number that a block of two rows is.
TASKDAG_HD double magnitude(const double* number) { return hypot(number[0], number[1]); }
/// The size of the diagonal entry of row r in a block of n rows; of complex blocks, of the number there.
TASKDAG_HD double diagonal_size(const double* block, int n, int r, bool complex_blocks) {
  const double* const column = block + static_cast<std::ptrdiff_t>(r) * n;
  return complex_blocks ? hypot(column[r], column[r ^ 1]) : column[r];
}
/// |p| of a pivot whose inverse that is.
TASKDAG_HD double magnitude_of_inverse(const double* number) {
  const double size = magnitude(number);
  return size > 0.0 ? 1.0 / size : 0.0;
}

/// What report_pivot() reports to.
struct NotedPivot {
  Inversion& found;
  TASKDAG_HD void zero_pivot(Index, double) const { found.first_zero = found.last_zero = 0; }
  TASKDAG_HD void shifted(Index) const { ++found.shifted; }
  TASKDAG_HD void not_definite(Index) const {}
  TASKDAG_HD void non_finite(Index) const { found.finite = false; }
};

/// A block of two rows, a complex number, becomes its inverse (the quotient is Smith's). absolute_sum: of the row's
/// other entries. All of the group take part, and get the same answer.
template <class Group>
TASKDAG_HD Inversion invert_number(BlockSize<2> size, const Group& group, double* a, const PivotRule& rule,
                                   double absolute_sum) {
  Inversion found;
  const PivotSize pivot{a[0], magnitude(a)};
  report_pivot(rule, 0, pivot, absolute_sum, {}, NotedPivot{found});
  const double re = a[0] + own_shift(rule, pivot);
  const double im = a[1];
  const bool wide = (re < 0 ? -re : re) >= (im < 0 ? -im : im);
  const double ratio = wide ? im / re : re / im;
  const double denominator = wide ? re + im * ratio : re * ratio + im;
  const double inverse_re = (wide ? 1.0 : ratio) / denominator;
  const double inverse_im = (wide ? -ratio : -1.0) / denominator;
  group.sync();  // all have read it
  group.each_element(size, [&](int r, int c) {
    a[c * 2 + r] = r == c ? inverse_re : r > c ? inverse_im : -inverse_im;
  });
  group.sync();
  return found;
}

}  // namespace taskdag::kernels::point_block
