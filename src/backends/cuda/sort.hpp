/// \file
/// Sorts in device memory, by CUB. Compiled once, in a file for each kind of key: a file's kernels are loaded together
/// when the first of them is launched, and a sort is a hundred kilobytes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "taskdag/csr.hpp"

namespace taskdag::cuda {

/// Sorts n items by the lowest `bits` bits of their keys, stably, into other arrays. Asynchronous.
void sort_pairs(const std::uint32_t* key, std::uint32_t* sorted_key, const Index* item, Index* sorted_item,
                std::int64_t n, int bits, cudaStream_t stream);
void sort_pairs(const std::uint64_t* key, std::uint64_t* sorted_key, const Index* item, Index* sorted_item,
                std::int64_t n, int bits, cudaStream_t stream);
/// Keys are not negative.
void sort_pairs(const Index* key, Index* sorted_key, const Index* item, Index* sorted_item, std::int64_t n, int bits,
                cudaStream_t stream);

/// The same without items.
void sort_keys(const std::uint32_t* key, std::uint32_t* sorted, std::int64_t n, int bits, cudaStream_t stream);
void sort_keys(const std::uint64_t* key, std::uint64_t* sorted, std::int64_t n, int bits, cudaStream_t stream);

}  // namespace taskdag::cuda
