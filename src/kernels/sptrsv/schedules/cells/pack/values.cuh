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
    if (of.partner == nullptr) return own * own;
    const Offset other = __ldg(of.partner + e);
    return own * (other < 0 ? 0.0 : value(other));
  }
};

/// What is stored of an entry of bands or pencils, in their precision; 0 where e is −1. scale: the row's inverse pivot,
/// by which entries in single precision have been scaled already.
template <class Value, class Values>
__device__ Value stored_entry(const Values& values, Offset e, double scale) {
  constexpr bool kScaled = sizeof(Value) == sizeof(double);
  return static_cast<Value>(e >= 0 ? with_plain_nan(-values(e) * (kScaled ? scale : 1.0)) : 0.0);
}

}  // namespace taskdag::kernels::cells
