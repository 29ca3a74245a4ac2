/// \file
/// What each of k sweeps multiplies its corrections by, beside the damping.
#pragma once

#include <cmath>
#include <numbers>

#include "taskdag/jacobi.hpp"

namespace taskdag::kernels {

/// Of sweep number `sweep` of `sweeps`, counted from 0. The reciprocal zeros of Chebyshev's polynomial of the
/// fourth kind on [0, 1] (Lottes 2022), the smallest first: products of few factors then grow nowhere.
inline double jacobi_weight(JacobiWeights weights, int sweeps, int sweep) {
  if (weights == JacobiWeights::constant) return 1.0;
  const double sine = std::sin(std::numbers::pi * (sweeps - sweep) / (2.0 * sweeps + 1.0));
  return 1.0 / (sine * sine);
}

}  // namespace taskdag::kernels
