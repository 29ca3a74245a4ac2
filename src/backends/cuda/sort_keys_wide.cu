/// \file
/// Sorts 64-bit keys on the device.
#include "backends/cuda/sort.cuh"
#include "backends/cuda/sort.hpp"

namespace taskdag::cuda {

void sort_keys(const std::uint64_t* key, std::uint64_t* sorted, std::int64_t n, int bits, cudaStream_t stream) {
  sort_keys_of(key, sorted, n, bits, stream);
}

}  // namespace taskdag::cuda
