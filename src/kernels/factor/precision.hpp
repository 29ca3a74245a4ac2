/// \file
/// Whether an entry of a unit triangle of a factor fits into single precision: PrecisionLoss.
#pragma once

#include <cfloat>
#include <cmath>

#include "base/macros.hpp"
#include "taskdag/factorization.hpp"

namespace taskdag::kernels {

/// What does not fit, and in which row.
struct FoundLoss {
  PrecisionLoss loss = PrecisionLoss::none;
  Index row = -1;
};

/// `value`: l_ij or u_ij of M = L D U with unit triangles. ratio: d_j / d_i for l_ij, d_i / d_j for u_ij, so that what
/// is looked at does not depend on how rows and columns are scaled, as long as both are alike. A NaN fits.
TASKDAG_HD PrecisionLoss loss_in_single(double value, double ratio) {
  constexpr double kSmall = 0x1p-60;
  const double size = value < 0 ? -value : value;
  if (size > double{FLT_MAX}) return PrecisionLoss::overflow;
  if (!(size > 0 && size < double{FLT_MIN})) return PrecisionLoss::none;
  return size * sqrt(ratio < 0 ? -ratio : ratio) <= kSmall ? PrecisionLoss::none : PrecisionLoss::underflow;
}

}  // namespace taskdag::kernels
