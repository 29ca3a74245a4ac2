/// \file
/// What the files of reduce.hpp compile, each for its kind of number.
#pragma once

#include <cub/device/device_reduce.cuh>

#include "backends/cuda/algorithm.cuh"

namespace taskdag::cuda {

/// One number of an array: reduce(scratch, bytes, result) is a call of CUB's.
template <class T, class Reduce>
T reduced(cudaStream_t stream, const Reduce& reduce) {
  const ScratchArray<T> result(1, stream);
  with_scratch([&](void* scratch, std::size_t& bytes) { return reduce(scratch, bytes, result.data()); }, stream);
  return fetch(result.data(), stream);
}

template <class T>
T largest_of(const T* in, std::int64_t n, cudaStream_t stream) {
  return reduced<T>(stream, [&](void* scratch, std::size_t& bytes, T* result) {
    return cub::DeviceReduce::Max(scratch, bytes, in, result, n, stream);
  });
}

template <class T>
T smallest_of(const T* in, std::int64_t n, cudaStream_t stream) {
  return reduced<T>(stream, [&](void* scratch, std::size_t& bytes, T* result) {
    return cub::DeviceReduce::Min(scratch, bytes, in, result, n, stream);
  });
}

}  // namespace taskdag::cuda
