/// \file
/// The pivot check of both factorisations, PETSc's MatPivotCheck as one function without state.
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

/// The pivot to use.
TASKDAG_HD double shifted_pivot(const PivotRule& rule, double pivot) {
  const double magnitude = pivot < 0 ? -pivot : pivot;
  return rule.shift == ShiftType::inblocks && magnitude <= rule.zero_pivot ? pivot + rule.inblocks_amount : pivot;
}

/// Returns the pivot to use and reports a bad one through `factor`: zero_pivot(i, |p|) where the attempt fails or must
/// be restarted, shifted(i) where inblocks changed it, non_finite(i) for a NaN or infinity. A NaN is never "zero", as
/// in PETSc.
template <class Factor>
TASKDAG_HD double check_pivot(const PivotRule& rule, Index i, double pivot, double absolute_sum, const Factor& factor) {
  const double magnitude = pivot < 0 ? -pivot : pivot;
  if (!is_finite(pivot) || !is_finite(absolute_sum)) factor.non_finite(i);
  switch (rule.shift) {
    case ShiftType::none:
      if (magnitude <= rule.zero_pivot) factor.zero_pivot(i, magnitude);
      break;
    case ShiftType::nonzero:
      if (magnitude <= rule.zero_pivot * absolute_sum) factor.zero_pivot(i, magnitude);
      break;
    case ShiftType::positive_definite:
      if (pivot <= rule.zero_pivot * absolute_sum) factor.zero_pivot(i, magnitude);
      break;
    case ShiftType::inblocks:
      if (magnitude <= rule.zero_pivot) factor.shifted(i);
      break;
  }
  return shifted_pivot(rule, pivot);
}

}  // namespace taskdag::kernels
