/// \file
/// What the kernels of the schedule flat compute with: doubles, or complex numbers as they lie in vectors, real part
/// and imaginary part one after the other. Arguments name doubles; what an index counts are numbers.
#pragma once

#include <type_traits>

#include "backends/cuda/seam.cuh"
#include "base/complex_number.hpp"

namespace taskdag::kernels {

/// Element i of a vector, which may lie at any double.
template <class Number>
__device__ Number element_of(const double* vector, Index i) {
  if constexpr (is_complex<Number>) {
    const double* const parts = vector + std::int64_t{2} * i;
    return {parts[0], parts[1]};
  } else {
    return vector[i];
  }
}
/// The same of what no kernel writes meanwhile.
template <class Number>
__device__ Number fixed_element_of(const double* vector, Index i) {
  if constexpr (is_complex<Number>) {
    const double* const parts = vector + std::int64_t{2} * i;
    return {__ldg(parts), __ldg(parts + 1)};
  } else {
    return __ldg(vector + i);
  }
}
__device__ inline void set_element(double* vector, Index i, double value) { vector[i] = value; }
__device__ inline void set_element(double* vector, Index i, Complex value) {
  double* const parts = vector + std::int64_t{2} * i;
  parts[0] = value.re;
  parts[1] = value.im;
}

/// What a slot holds before its row is done.
template <class Number>
__device__ Number nothing_yet() {
  if constexpr (is_complex<Number>) {
    return {not_yet(), not_yet()};
  } else {
    return not_yet();
  }
}
/// What adding it to a number never changes.
template <class Number>
__device__ Number neutral() {
  if constexpr (is_complex<Number>) {
    return {-0.0, -0.0};
  } else {
    return -0.0;
  }
}

/// Slots as cuda::Slots, of either kind of number. Each part of a complex one is its own flag: both travel together,
/// and need not.
template <class Number>
struct SlotsOf {
  double* slot;

  __device__ Number peek(Index i) const {
    Number value;
    look(i, true, value);
    return value;
  }
  __device__ void wait_patiently(Index i, unsigned pause_ns) const {
    while (!is_there(peek(i))) __nanosleep(pause_ns);
  }
  /// Waits for Batch values. What is missing is asked for again, all of it before any of it is looked at: a row that
  /// looked at one after the other took up to half as long again (docs/notes/flat.md).
  template <int Batch>
  __device__ void wait(const Index (&index)[Batch], Number (&value)[Batch]) const {
#pragma unroll
    for (int k = 0; k < Batch; ++k) value[k] = peek(index[k]);
    while (true) {
      bool missing[Batch];
      bool any = false;
#pragma unroll
      for (int k = 0; k < Batch; ++k) {
        missing[k] = !is_there(value[k]);
        any |= missing[k];
      }
      if (!any) return;
#pragma unroll
      for (int k = 0; k < Batch; ++k) look(index[k], missing[k], value[k]);
    }
  }
  __device__ void publish(Index i, double result) const { cuda::Slots{slot}.publish(i, result); }
  __device__ void publish(Index i, Complex result) const {
    asm volatile("st.relaxed.gpu.global.v2.f64 [%0], {%1, %2};" ::"l"(place(i)), "d"(publishable(result.re)),
                 "d"(publishable(result.im))
                 : "memory");
  }

 private:
  __device__ double* place(Index i) const { return slot + std::int64_t{is_complex<Number> ? 2 : 1} * i; }
  static __device__ bool is_there(double value) { return is_ready(value); }
  static __device__ bool is_there(Complex value) { return is_ready(value.re) && is_ready(value.im); }
  /// Leaves the value as it is where it does not look. A load without a branch, which would part the lanes of a warp.
  __device__ void look(Index i, bool looks, double& value) const {
    asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p ld.relaxed.gpu.global.f64 %0, [%1];}"
                 : "+d"(value)
                 : "l"(place(i)), "r"(static_cast<int>(looks))
                 : "memory");
  }
  __device__ void look(Index i, bool looks, Complex& value) const {
    asm volatile("{.reg .pred p; setp.ne.s32 p, %3, 0; @p ld.relaxed.gpu.global.v2.f64 {%0, %1}, [%2];}"
                 : "+d"(value.re), "+d"(value.im)
                 : "l"(place(i)), "r"(static_cast<int>(looks))
                 : "memory");
  }
};

/// Lanes that share a row.
class NumberGroup : public cuda::LaneGroup {
 public:
  using cuda::LaneGroup::LaneGroup;
  using cuda::LaneGroup::sum;
  __device__ Complex sum(Complex value) const { return {sum(value.re), sum(value.im)}; }
};

}  // namespace taskdag::kernels
