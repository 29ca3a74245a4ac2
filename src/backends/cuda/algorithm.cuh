/// \file
/// Small launch helpers that every .cu file needs.
#pragma once

#include <cstdint>

#include "backends/cuda/memory.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::cuda {

/// Block size of kernels with one thread an element, and the blocks for n of them.
inline constexpr int kElementBlock = 256;
inline int element_blocks(std::int64_t n) { return static_cast<int>((n + kElementBlock - 1) / kElementBlock); }

/// Number of the calling thread over the grid.
__device__ inline std::int64_t element() { return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

/// The first place in [begin, end) that holds `bound` or more, or end. `sorted` ascends.
template <class T, class Place>
__device__ Place first_not_below(const T* sorted, Place begin, Place end, T bound) {
  while (begin < end) {
    const Place middle = begin + (end - begin) / 2;
    if (sorted[middle] < bound) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/// Calls a CUB algorithm twice: for the size of its scratch memory, then for real.
template <class Algorithm>
void with_scratch(const Algorithm& algorithm, cudaStream_t stream) {
  std::size_t bytes = 0;
  check(algorithm(nullptr, bytes), "sizing scratch memory");
  ScratchArray<char> scratch(bytes, stream);
  check(algorithm(static_cast<void*>(scratch.data()), bytes), "running a sort or a scan");
}

}  // namespace taskdag::cuda
