/// \file
/// Running sums in device memory over iterators; scan.hpp has those of arrays.
#pragma once

#include <cub/device/device_scan.cuh>

#include "backends/cuda/algorithm.cuh"

namespace taskdag::cuda {

/// sum[k] = in[0] + … + in[k − 1] for k < n; `in`: an iterator, which may be `sum`. Asynchronous.
template <class In, class Sum, class Count>
void exclusive_sum_over(In in, Sum* sum, Count n, cudaStream_t stream) {
  with_scratch([&](void* scratch,
                   std::size_t& bytes) { return cub::DeviceScan::ExclusiveSum(scratch, bytes, in, sum, n, stream); },
               stream);
}

/// The same with in[k].
template <class In, class Sum, class Count>
void inclusive_sum_over(In in, Sum* sum, Count n, cudaStream_t stream) {
  with_scratch([&](void* scratch,
                   std::size_t& bytes) { return cub::DeviceScan::InclusiveSum(scratch, bytes, in, sum, n, stream); },
               stream);
}

struct Larger {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

/// most[k] = the largest of in[0 … k] for k < n; `in`: an iterator. Asynchronous.
template <class In, class Most, class Count>
void inclusive_maximum_over(In in, Most* most, Count n, cudaStream_t stream) {
  with_scratch(
      [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceScan::InclusiveScan(scratch, bytes, in, most, Larger{}, n, stream);
      },
      stream);
}

}  // namespace taskdag::cuda
