/// \file
/// Where loads of values take them from, and what bands and pencils make of them.
#pragma once

#include "kernels/sptrsv/schedules/cells/run/shared.cuh"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels::cells {

/// What entries get, but for their rows' pivots.
struct PlainValues {
  const double* source;
  __device__ double operator()(Offset e) const { return __ldg(source + e); }
};
struct Products {
  ValueProducts of;
  __device__ double value(Offset e) const {
    const Offset from = of.source ? __ldg(of.source + e) : e;
    return from < 0 ? 0.0 : __ldg(of.values + from);
  }
  __device__ double operator()(Offset e) const {
    const double own = value(e);
    if (of.partner == nullptr) return product(own, own);
    const Offset other = __ldg(of.partner + e);
    return product(own, other < 0 ? 0.0 : value(other));
  }

 private:
  [[nodiscard]] __device__ double product(double a, double b) const {
    constexpr double kSmall = 0x1p-960;  // 62 bits above the least number with all digits
    const double result = a * b;
    const bool kept = fabs(result) >= kSmall && is_finite(result);
    if (!kept && of.lost != nullptr && a != 0.0 && b != 0.0 && is_finite(a) && is_finite(b)) *of.lost = 1;
    return result;
  }
};

/// What is stored of an entry of bands or pencils, in their precision. scale: the row's inverse pivot, by which entries
/// in single precision have been scaled already.
template <class Value>
__device__ Value stored_value(double value, double scale) {
  constexpr bool kScaled = sizeof(Value) == sizeof(double);
  return static_cast<Value>(with_plain_nan(-value * (kScaled ? scale : 1.0)));
}

/// What stored_value() was made of, but for a unit in the last place where it was scaled.
template <class Value>
__device__ double returned_value(Value stored, double scale) {
  constexpr bool kScaled = sizeof(Value) == sizeof(double);
  return -double{stored} / (kScaled ? scale : 1.0);
}

/// stored_value() for entry e; 0 where e is −1.
template <class Value, class Values>
__device__ Value stored_entry(const Values& values, Offset e, double scale) {
  return e >= 0 ? stored_value<Value>(values(e), scale) : Value{0};
}

}  // namespace taskdag::kernels::cells
