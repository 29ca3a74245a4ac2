#include "backends/cuda/sort.cuh"
#include "backends/cuda/sort.hpp"

namespace taskdag::cuda {

void sort_pairs(const std::uint32_t* key, std::uint32_t* sorted_key, const Index* item, Index* sorted_item,
                std::int64_t n, int bits, cudaStream_t stream) {
  sort_pairs_of(key, sorted_key, item, sorted_item, n, bits, stream);
}

void sort_pairs(const Index* key, Index* sorted_key, const Index* item, Index* sorted_item, std::int64_t n, int bits,
                cudaStream_t stream) {
  sort_pairs(reinterpret_cast<const std::uint32_t*>(key), reinterpret_cast<std::uint32_t*>(sorted_key), item,
             sorted_item, n, bits, stream);
}

}  // namespace taskdag::cuda
