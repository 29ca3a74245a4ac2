/// \file
/// Complex matrices, which factorisations and SOR take as point blocks.
///
/// A complex number z = a + bi is the real block (a −b; b a). So a complex matrix is a real one of point blocks of 2
/// rows, with the same pattern; a complex vector is, as it lies in memory, a real one of twice the length.
/// Factorisations take such blocks with FactorOptions::complex_blocks, SOR with SorOptions::block_size alone: their
/// products are those of the numbers, and an ILU(k) or a sweep of the blocks is that of the complex matrix.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/export.hpp"

namespace taskdag {

/// Owns a complex matrix by rows in host memory.
struct ComplexMatrix {
  Index rows = 0;
  Index cols = 0;
  std::vector<Offset> row_offsets = {0};
  std::vector<Index> col_indices;
  std::vector<std::complex<double>> values;

  [[nodiscard]] CsrPattern pattern() const { return {rows, cols, row_offsets.data(), col_indices.data()}; }
};

/// The values of a complex matrix as real ones, block after block, each column by column (FactorOptions::block_size).
/// block_size: of the complex matrix: 1, or that of its own blocks, whose elements stand column by column; the real
/// blocks have twice as many rows. @throws InvalidInput where the values are no whole blocks
TASKDAG_API std::vector<double> real_blocks(std::span<const std::complex<double>> values, Index block_size = 1);
/// The same into an array that has four times as many elements.
TASKDAG_API void real_blocks(std::span<const std::complex<double>> values, Index block_size, double* blocks);

/// The same for a matrix in device memory, where the blocks are, too: nothing goes by way of the host.
class TASKDAG_API RealBlocks {
 public:
  /// Of no values.
  RealBlocks();
  /// numbers: real part and imaginary part of `count` values in memory of the current CUDA device, where the blocks
  /// come to be. Asynchronous on `stream`, which also has to have read the blocks when the object goes.
  /// @throws InvalidInput as real_blocks(); DeviceError, also in a build without CUDA; OutOfMemory
  RealBlocks(const double* numbers, std::int64_t count, Index block_size, Stream stream);
  RealBlocks(RealBlocks&&) noexcept;
  RealBlocks& operator=(RealBlocks&&) noexcept;
  ~RealBlocks();

  /// 4 · count elements in device memory, valid as long as this is; null for none.
  [[nodiscard]] const double* values() const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

/// A complex matrix by rows as the real one of twice as many: for Jacobi and BlockJacobi, and what else takes rows.
/// values: one for each entry of the pattern, which lies in host memory.
TASKDAG_API CsrMatrix real_rows(const CsrPattern& pattern, std::span<const std::complex<double>> values);

}  // namespace taskdag
