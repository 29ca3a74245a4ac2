/// \file
/// Sorts indices by 64-bit keys on the device.
#include "backends/cuda/sort.cuh"
#include "backends/cuda/sort.hpp"

namespace taskdag::cuda {

void sort_pairs(const std::uint64_t* key, std::uint64_t* sorted_key, const Index* item, Index* sorted_item,
                std::int64_t n, int bits, cudaStream_t stream) {
  sort_pairs_of(key, sorted_key, item, sorted_item, n, bits, stream);
}

}  // namespace taskdag::cuda
