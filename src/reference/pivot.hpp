/// \file
/// The pivot check of the serial references, written apart from that of the task bodies (kernels/factor/pivot.hpp),
/// whose oracle it is.
#pragma once

#include <cmath>

#include "taskdag/factorization.hpp"

namespace taskdag::kernels {

/// Records in `status` what row i's pivot and the sum of the absolute values of its other entries say.
/// @returns the pivot to use
inline double reference_pivot(const FactorOptions& options, Index i, double pivot, double sum, FactorStatus& status) {
  const bool finite = std::isfinite(pivot) && std::isfinite(sum);
  const bool relative = options.shift == ShiftType::nonzero || options.shift == ShiftType::positive_definite;
  const double size = options.shift == ShiftType::positive_definite ? pivot : std::abs(pivot);
  const bool zero = size <= options.zero_pivot * (relative ? sum : 1.0);
  if (zero && options.shift == ShiftType::inblocks) {
    pivot += options.shift_amount;
    ++status.shifts;
  } else if (zero) {
    if (status.first_row < 0) {
      status.outcome = FactorOutcome::zero_pivot;
      status.first_row = i;
    }
    status.last_row = i;
    status.last_pivot = std::abs(pivot);
  }
  if (!finite && status.first_row < 0) {
    status.outcome = FactorOutcome::non_finite;
    status.first_row = i;
  }
  return pivot;
}

}  // namespace taskdag::kernels
