/// \file
/// Where loads of values take them from.
#pragma once

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

}  // namespace taskdag::kernels::cells
