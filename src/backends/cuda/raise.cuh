/// \file
/// The largest of numbers that warps find.
#pragma once

namespace taskdag::cuda {

/// *most (device memory, not negative) = max(*most, value). To be reached by whole warps; values are not negative, a
/// NaN counts as more than all numbers.
__device__ inline void raise_to(double* most, double value) {
  constexpr unsigned kAll = 0xFFFFFFFFU;
  auto bits = static_cast<unsigned long long>(__double_as_longlong(value));  // ordered as the numbers are
  for (int offset = 16; offset > 0; offset /= 2) bits = max(bits, __shfl_xor_sync(kAll, bits, offset));
  auto* const word = reinterpret_cast<unsigned long long*>(most);
  if (threadIdx.x % 32 == 0 && bits > *word) atomicMax(word, bits);
}

}  // namespace taskdag::cuda
