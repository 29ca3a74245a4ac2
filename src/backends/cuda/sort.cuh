/// \file
/// What the files of sort.hpp compile, each for its kind of key.
#pragma once

#include <cub/device/device_radix_sort.cuh>

#include "backends/cuda/algorithm.cuh"

namespace taskdag::cuda {

template <class Key>
void sort_pairs_of(const Key* key, Key* sorted_key, const Index* item, Index* sorted_item, std::int64_t n, int bits,
                   cudaStream_t stream) {
  with_scratch(
      [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(scratch, bytes, key, sorted_key, item, sorted_item, n, 0, bits, stream);
      },
      stream);
}

template <class Key>
void sort_keys_of(const Key* key, Key* sorted, std::int64_t n, int bits, cudaStream_t stream) {
  with_scratch(
      [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortKeys(scratch, bytes, key, sorted, n, 0, bits, stream);
      },
      stream);
}

}  // namespace taskdag::cuda
