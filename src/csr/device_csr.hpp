/// \file
/// Rearranging CSR patterns in device memory: transposition, permutation, the upper triangle.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "backends/cuda/memory.hpp"
#include "csr/pattern.hpp"

namespace taskdag::kernels {

/// A CSR pattern that owns its device memory, with a map of its entries to those of the pattern that it was made from.
struct DeviceCsr {
  Index rows = 0;
  Offset entries = 0;
  cuda::DeviceArray<Offset> row_offsets;
  cuda::DeviceArray<Index> col_indices;
  cuda::DeviceArray<Offset> source;  ///< entry → entry of the original; empty: the same

  [[nodiscard]] DevicePattern pattern() const { return {rows, entries, row_offsets.data(), col_indices.data()}; }
  [[nodiscard]] std::int64_t bytes() const { return row_offsets.bytes() + col_indices.bytes() + source.bytes(); }
};

/// row_of[e] is the row of entry e. Asynchronous.
void expand_rows(const DevicePattern& a, Index* row_of, cudaStream_t stream);

/// column[k] is the lower `bits` bits of key[k]. Asynchronous.
void columns_of_keys(std::int64_t count, int bits, const std::uint64_t* key, Index* column, cudaStream_t stream);

/// A copy of the pattern. Asynchronous.
DeviceCsr copy_pattern(const DevicePattern& pattern, cudaStream_t stream);

/// B(i, j) = A(row_order[i], col_order[j]) for device arrays of new → old; columns ascend. Synchronises `stream`.
DeviceCsr permute_pattern(const DevicePattern& a, const Index* row_order, const Index* col_order, cudaStream_t stream);

/// Aᵀ; rows ascend inside a column because entries are sorted stably by column. Asynchronous.
DeviceCsr transpose_pattern(const DevicePattern& a, cudaStream_t stream);

/// Diagonal and strictly upper entries; `diagonal` holds the position of each row's diagonal entry. Synchronises.
DeviceCsr upper_pattern(const DevicePattern& a, const Offset* diagonal, cudaStream_t stream);

/// Position of each row's diagonal entry. @returns the first row without one, or −1. Synchronises.
Index find_diagonal(const DevicePattern& a, Offset* diagonal, cudaStream_t stream);

}  // namespace taskdag::kernels
