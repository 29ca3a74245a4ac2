/// \file
/// The numbers that a method computes with: doubles, or complex ones as they lie in vectors, real part and imaginary
/// part one after the other.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/complex_number.hpp"
#include "taskdag/engine/platform.hpp"

namespace taskdag::krylov {

/// Doubles that a number consists of.
template <class Number>
inline constexpr int parts_of = is_complex<Number> ? 2 : 1;

TASKDAG_TASK constexpr double conjugate(double a) { return a; }
TASKDAG_TASK constexpr Complex conjugate(Complex a) { return {a.re, -a.im}; }
TASKDAG_TASK constexpr double real_part(double a) { return a; }
TASKDAG_TASK constexpr double real_part(Complex a) { return a.re; }
/// |a|²
TASKDAG_TASK constexpr double square(double a) { return a * a; }
TASKDAG_TASK constexpr double square(Complex a) { return a.re * a.re + a.im * a.im; }
/// rest + |a|²
TASKDAG_TASK inline double plus_square(double rest, double a) { return fma(a, a, rest); }
TASKDAG_TASK inline double plus_square(double rest, Complex a) { return fma(a.re, a.re, fma(a.im, a.im, rest)); }
TASKDAG_TASK inline double magnitude(double a) { return std::abs(a); }
TASKDAG_TASK inline double magnitude(Complex a) { return hypot(a.re, a.im); }
TASKDAG_TASK constexpr bool is_zero(double a) { return a == 0.0; }
TASKDAG_TASK constexpr bool is_zero(Complex a) { return a.re == 0.0 && a.im == 0.0; }
TASKDAG_TASK constexpr bool is_finite(double value) { return value - value == 0.0; }

/// Vectors as the rest of the loop has them, by doubles.
TASKDAG_TASK inline double* reals(double* numbers) { return numbers; }
TASKDAG_TASK inline const double* reals(const double* numbers) { return numbers; }
TASKDAG_TASK inline double* reals(Complex* numbers) { return reinterpret_cast<double*>(numbers); }
TASKDAG_TASK inline const double* reals(const Complex* numbers) { return reinterpret_cast<const double*>(numbers); }
template <class Number>
TASKDAG_TASK Number* numbers(double* reals) {
  return reinterpret_cast<Number*>(reals);
}

/// Of numbers that a stage has added up, part after part.
template <class Number>
TASKDAG_TASK Number number_from(const double* sum) {
  if constexpr (is_complex<Number>)
    return {sum[0], sum[1]};
  else
    return sum[0];
}
/// Adds the conjugate of a times b.
TASKDAG_TASK inline void add_product(double* sum, double a, double b) { sum[0] += a * b; }
TASKDAG_TASK inline void add_product(double* sum, Complex a, Complex b) {
  sum[0] += a.re * b.re + a.im * b.im;
  sum[1] += a.re * b.im - a.im * b.re;
}
/// The same where b is known by parts: `part` is that of real row `row`.
TASKDAG_TASK inline void add_product(double* sum, const double* a, std::uint32_t row, double part) {
  sum[0] += a[row] * part;
}
TASKDAG_TASK inline void add_product(double* sum, const Complex* a, std::uint32_t row, double part) {
  const Complex one = a[row / 2];
  const bool imaginary = row % 2 != 0;
  sum[0] += (imaginary ? one.im : one.re) * part;
  sum[1] += (imaginary ? one.re : -one.im) * part;
}

}  // namespace taskdag::krylov
