#include <cub/device/device_radix_sort.cuh>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/sort.hpp"

namespace taskdag::cuda {

void sort_keys(const std::uint64_t* key, std::uint64_t* sorted, std::int64_t n, int bits, cudaStream_t stream) {
  with_scratch(
      [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortKeys(scratch, bytes, key, sorted, n, 0, bits, stream);
      },
      stream);
}

}  // namespace taskdag::cuda
