/// \file
/// The rows of a factor by point blocks, as schedules of triangular solves want them.
///
/// With D its diagonal blocks the factor is M = L D Ũ, Ũ = D⁻¹ U. L and Ũ have unit diagonal blocks, so the rows of a
/// block do not wait for each other: a triangle has the levels of the blocks. Between the two sweeps z = D⁻¹ y.
/// The pattern by rows holds what is outside the diagonal blocks, and each row's diagonal entry. Device memory.
#pragma once

#include <cuda_runtime_api.h>

#include "csr/device_csr.hpp"

namespace taskdag::kernels::point_block {

/// The blocks of a factor: L below the diagonal, D⁻¹ on it, U above; block e begins at values[e · block_size²].
struct FactorBlocks {
  Index rows;  ///< of blocks
  Offset blocks;
  int block_size;
  const Offset* offsets;
  const Index* columns;
  const Offset* diagonal;
  const double* values;

  /// Entries of the pattern by rows: no more than elements of blocks, which are less than 2³¹.
  [[nodiscard]] Offset entries_by_rows() const { return ((blocks - rows) * block_size + rows) * block_size; }
};

/// The pattern by rows of L + I + Ũ. Asynchronous.
DeviceCsr pattern_by_rows(const FactorBlocks& factor, cudaStream_t stream);

/// What an application is of. The transpose of a block of complex numbers is that of the conjugated real block.
enum class Form { as_it_is, transposed, complex_transposed };

/// The entries of L and Ũ, or of their conjugates, in the order of that pattern, 1 on the diagonal. Asynchronous.
void values_by_rows(const FactorBlocks& factor, bool conjugated, double* entries, cudaStream_t stream);

/// z = D⁻¹ y, or D⁻ᵀ y, by rows; y of row i is y[index ? index[i] : i]. Asynchronous.
void divide_by_diagonal(const FactorBlocks& factor, Form form, const double* y, const Index* index, double* z,
                        cudaStream_t stream);

/// An order of block rows as one of rows; empty where `order` is. Asynchronous.
cuda::DeviceArray<Index> order_by_rows(const cuda::DeviceArray<Index>& order, int block_size, cudaStream_t stream);

}  // namespace taskdag::kernels::point_block
