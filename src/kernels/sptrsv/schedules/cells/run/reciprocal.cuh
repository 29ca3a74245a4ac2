/// \file
/// 1 / x for the recurrence of inverse pivots.
#pragma once

#include "kernels/sptrsv/schedules/cells/run/shared.cuh"

namespace taskdag::kernels::cells {

/// 1 / x of any x: of zeros, subnormal and huge numbers, too. It is not inlined, so that it costs the compute warp no
/// registers.
static __device__ __noinline__ double extreme_reciprocal(double x) { return with_plain_nan(__drcp_rn(x)); }

/// 1 / x to half a unit in the last place and a little: an approximation to 20 bits, then one step of third order. All
/// of it is on the way from row to row, hence no correct rounding, and no branch where lanes have ordinary numbers.
__device__ inline double reciprocal(double x) {
  constexpr unsigned kExponent = 0x7FF00000U;
  constexpr unsigned kLeast = 0x00200000U;  // exponents between which neither x nor 1 / x is subnormal
  constexpr unsigned kMost = 0x7FC00000U;
  double guess;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(x));
  const unsigned exponent = static_cast<unsigned>(__double2hiint(x)) & kExponent;
  const bool extreme = exponent - kLeast > kMost - kLeast;
  const double error = fma(-x, guess, 1.0);
  double result = fma(guess, fma(error, error, error), guess);
  if (__any_sync(0xFFFFFFFFU, extreme)) {
    const double exact = extreme_reciprocal(x);
    result = extreme ? exact : result;
  }
  return result;
}

}  // namespace taskdag::kernels::cells
