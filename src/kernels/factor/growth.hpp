/// \file
/// An element of the growth of a factor, Factorization::growth().
#pragma once

#include <cmath>

#include "base/handover.hpp"
#include "base/macros.hpp"

namespace taskdag::kernels {

/// The square root of a diagonal entry's absolute value; 1 for one that is 0 and says nothing about its row.
TASKDAG_HD double growth_weight(double diagonal) {
  const double size = diagonal < 0 ? -diagonal : diagonal;
  return size > 0 ? sqrt(size) : 1.0;
}

/// |weight · value|, infinite where that is not finite.
TASKDAG_HD double weighted_size(double weight, double value) {
  const double product = weight * value;
  if (!is_finite(product)) return HUGE_VAL;
  return product < 0 ? -product : product;
}

}  // namespace taskdag::kernels
