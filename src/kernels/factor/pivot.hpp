/// \file
/// The pivot check of both factorisations, as functions without state: PETSc's MatPivotCheck, and that of
/// ShiftType::scaled.
#pragma once

#include "base/handover.hpp"
#include "base/macros.hpp"
#include "taskdag/factorization.hpp"

namespace taskdag::kernels {

/// What a pivot is held against during one attempt.
struct PivotRule {
  ShiftType shift = ShiftType::none;
  double zero_pivot = 0.0;
  double inblocks_amount = 0.0;
};

/// What an attempt adds to the diagonal.
struct DiagonalShift {
  double amount = 0.0;
  bool relative = false;  ///< the amount is a multiple of each diagonal entry

  TASKDAG_HD double applied_to(double diagonal) const { return diagonal + (relative ? amount * diagonal : amount); }
};

/// What ShiftType::scaled holds a pivot against.
struct DiagonalEntry {
  double value = 0.0;  ///< the row's, with its shift
  double first = 0.0;  ///< the first row's: its sign is that of all pivots
};

/// A pivot as it is checked. Of a complex number the real part is what has a sign.
struct PivotSize {
  double part = 0.0;
  double magnitude = 0.0;
};

TASKDAG_HD PivotSize size_of_real(double pivot) { return {pivot, pivot < 0 ? -pivot : pivot}; }

/// What is added to this pivot alone.
TASKDAG_HD double own_shift(const PivotRule& rule, const PivotSize& pivot) {
  return rule.shift == ShiftType::inblocks && pivot.magnitude <= rule.zero_pivot ? rule.inblocks_amount : 0.0;
}

/// The pivot to use.
TASKDAG_HD double shifted_pivot(const PivotRule& rule, double pivot) {
  return pivot + own_shift(rule, size_of_real(pivot));
}

/// The check of ShiftType::scaled. Unlike PETSc's it asks how much of the diagonal entry elimination has left: a pivot
/// that lost nearly all its digits makes as bad a factor as a negative one.
template <class Factor>
TASKDAG_HD void check_scaled_pivot(const PivotRule& rule, Index i, double pivot, const DiagonalEntry& diagonal,
                                   const Factor& factor) {
  const double sign = diagonal.first < 0 ? -1.0 : 1.0;
  if (!is_finite(diagonal.value)) {
    factor.non_finite(i);
  } else if (sign * diagonal.value <= 0) {
    factor.not_definite(i);
  } else if (sign * pivot <= rule.zero_pivot * sign * diagonal.value) {
    factor.zero_pivot(i, pivot < 0 ? -pivot : pivot);
  }
}

/// Reports a bad pivot through `factor`: zero_pivot(i, |p|) where the attempt fails or must be restarted, shifted(i)
/// where inblocks changes it, not_definite(i) where no shift would help, non_finite(i) for a NaN or infinity. A NaN is
/// never "zero", as in PETSc. `diagonal`: read for ShiftType::scaled only.
template <class Factor>
TASKDAG_HD void report_pivot(const PivotRule& rule, Index i, const PivotSize& pivot, double absolute_sum,
                             const DiagonalEntry& diagonal, const Factor& factor) {
  const double magnitude = pivot.magnitude;
  if (!is_finite(magnitude) || !is_finite(absolute_sum)) factor.non_finite(i);
  switch (rule.shift) {
    case ShiftType::none:
      if (magnitude <= rule.zero_pivot) factor.zero_pivot(i, magnitude);
      break;
    case ShiftType::nonzero:
      if (magnitude <= rule.zero_pivot * absolute_sum) factor.zero_pivot(i, magnitude);
      break;
    case ShiftType::positive_definite:
      if (pivot.part <= rule.zero_pivot * absolute_sum) factor.zero_pivot(i, magnitude);
      break;
    case ShiftType::inblocks:
      if (magnitude <= rule.zero_pivot) factor.shifted(i);
      break;
    case ShiftType::scaled:
      check_scaled_pivot(rule, i, pivot.part, diagonal, factor);
      break;
  }
}

/// The same of a real pivot. Returns the one to use.
template <class Factor>
TASKDAG_HD double check_pivot(const PivotRule& rule, Index i, double pivot, double absolute_sum,
                              const DiagonalEntry& diagonal, const Factor& factor) {
  report_pivot(rule, i, size_of_real(pivot), absolute_sum, diagonal, factor);
  return shifted_pivot(rule, pivot);
}

}  // namespace taskdag::kernels
