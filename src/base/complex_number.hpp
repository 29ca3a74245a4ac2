/// \file
/// Complex numbers for host and device, as they lie in vectors: real part and imaginary part one after the other, at
/// any double.
#pragma once

#include <cmath>
#include <type_traits>

#include "base/handover.hpp"
#include "base/macros.hpp"

namespace taskdag {

struct Complex {
  double re;
  double im;
  Complex() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a real number is a complex one
  TASKDAG_HD constexpr Complex(double real, double imaginary = 0.0) : re(real), im(imaginary) {}
};

template <class Number>
inline constexpr bool is_complex = std::is_same_v<Number, Complex>;

TASKDAG_HD constexpr Complex operator-(Complex a) { return {-a.re, -a.im}; }
TASKDAG_HD constexpr Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
TASKDAG_HD constexpr Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
TASKDAG_HD constexpr Complex operator*(double a, Complex b) { return {a * b.re, a * b.im}; }
TASKDAG_HD constexpr Complex operator*(Complex a, double b) { return b * a; }

/// On the device products are written as the operations that they consist of: which of these are joined would else
/// depend on where the compiler meets them, and a number would not have the same bits in each kernel.
TASKDAG_HD Complex operator*(Complex a, Complex b) {
#if defined(__CUDA_ARCH__)
  return {fma(a.re, b.re, -__dmul_rn(a.im, b.im)), fma(a.re, b.im, __dmul_rn(a.im, b.re))};
#else
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
#endif
}
/// sum += a b
TASKDAG_HD void add_product(Complex& sum, Complex a, Complex b) {
#if defined(__CUDA_ARCH__)
  sum = {fma(a.re, b.re, fma(-a.im, b.im, sum.re)), fma(a.re, b.im, fma(a.im, b.re, sum.im))};
#else
  sum = sum + a * b;
#endif
}

/// Scaled, so that no square in between is too large or too small (Smith 1962).
TASKDAG_HD Complex operator/(Complex a, Complex b) {
  if (std::abs(b.re) >= std::abs(b.im)) {
    const double ratio = b.im / b.re;
    const double length = b.re + b.im * ratio;
    return {(a.re + a.im * ratio) / length, (a.im - a.re * ratio) / length};
  }
  const double ratio = b.re / b.im;
  const double length = b.re * ratio + b.im;
  return {(a.re * ratio + a.im) / length, (a.im * ratio - a.re) / length};
}
TASKDAG_HD Complex& operator+=(Complex& a, Complex b) { return a = a + b; }
TASKDAG_HD Complex& operator-=(Complex& a, Complex b) { return a = a - b; }

TASKDAG_HD bool is_finite(Complex a) { return is_finite(a.re) && is_finite(a.im); }

}  // namespace taskdag
