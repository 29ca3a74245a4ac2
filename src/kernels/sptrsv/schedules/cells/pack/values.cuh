/// \file
/// Where loads of values take them from, and what bands and pencils make of them.
#pragma once

#include "csr/entry.cuh"
#include "kernels/sptrsv/analysis/sweep_order.hpp"
#include "kernels/sptrsv/schedules/cells/pack/sources.hpp"
#include "kernels/sptrsv/schedules/cells/run/shared.cuh"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels::cells {

/// The value of an entry of the matrix, before it is multiplied by its row's pivot. of_entry() is for callers that know
/// the entry's row and column.
struct PlainValues {
  const double* source;
  __device__ double operator()(Offset e) const { return __ldg(source + e); }
  __device__ double of_entry(Offset e, Index /*row*/, Index /*column*/) const { return (*this)(e); }
};
/// A product of two values instead of each value, with the interface of PlainValues.
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
  __device__ double of_entry(Offset e, Index row, Index column) const {
    if (of.mirrored.rows == 0) return (*this)(e);
    const Offset other = kernels::entry_of(of.mirrored, of.mirrored.row_offsets[column], column, row);
    return product(value(e), other < 0 ? 0.0 : value(other));
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

/// The number that bands and pencils store for an entry, in their precision. scale: the row's inverse pivot; entries in
/// single precision have been multiplied by it before.
template <class Value>
__device__ Value stored_value(double value, double scale) {
  constexpr bool kScaled = sizeof(Value) == sizeof(double);
  return static_cast<Value>(with_plain_nan(-value * (kScaled ? scale : 1.0)));
}

/// The value that stored_value() had been called with. Where that has scaled it, the last bit may differ.
template <class Value>
__device__ double returned_value(Value stored, double scale) {
  constexpr bool kScaled = sizeof(Value) == sizeof(double);
  return -double{stored} / (kScaled ? scale : 1.0);
}

/// Where the value of entry `number` of row `step` of the sweep comes from; −1 where the row has no such entry.
/// distance: how many rows of the sweep before it the entry's operand is.
__device__ inline Offset source_of(const SourceView& sources, SweepOrder order, Index step, int number,
                                   Index distance) {
  if (sources.noted != nullptr) return __ldg(sources.noted + std::int64_t{number} * order.rows + step);
  if (step < distance) return -1;
  const Index row = order(step);
  return kernels::entry_of(sources.pattern, sources.pattern.row_offsets[row], row, order(step - distance));
}

}  // namespace taskdag::kernels::cells
