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

// Another kind of sort would be another 0.3 ms to load, which the first set-up of a process would wait for: the keys go
// along as their own items.
void sort_keys(const std::uint32_t* key, std::uint32_t* sorted, std::int64_t n, int bits, cudaStream_t stream) {
  const ScratchArray<Index> items(static_cast<std::size_t>(n), stream);
  sort_pairs(key, sorted, reinterpret_cast<const Index*>(key), items.data(), n, bits, stream);
}

}  // namespace taskdag::cuda
