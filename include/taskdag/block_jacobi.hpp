/// \file
/// Block Jacobi: damped sweeps with the inverses of small dense diagonal blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/export.hpp"
#include "taskdag/jacobi.hpp"
#include "taskdag/status.hpp"

namespace taskdag {

/// The most rows of a block.
inline constexpr Index kMostRowsOfJacobiBlock = 32;

/// Rows of a block of the graph where the user names no size. An application reads as many numbers a row as a block has
/// rows, so blocks as large as those of orderings (default_block_size()) would cost more than they save.
inline constexpr Index kDefaultRowsOfJacobiBlock = 4;

/// Every row in one block: block b has the rows order[offsets[b] … offsets[b + 1]), 1 to kMostRowsOfJacobiBlock of
/// them. Blocks may couple; in what order they stand does not matter.
struct JacobiBlocks {
  std::vector<Index> order;       ///< a permutation of the rows; empty: as they are
  std::vector<Index> offsets{0};  ///< ascend from 0 to the number of rows
};

/// Compact blocks of the graph of A + Aᵀ, those of block_multicolour() with this size; where one of them has more than
/// kMostRowsOfJacobiBlock rows it is cut into equal pieces. block_size: 1 to kMostRowsOfJacobiBlock, 0:
/// kDefaultRowsOfJacobiBlock. The same on every backend. `pattern` lies in `space`. Synchronises `stream`.
/// @throws InvalidInput for another size, and as block_multicolour()
TASKDAG_API JacobiBlocks blocks_of_graph(const Context& context, const CsrPattern& pattern, MemorySpace space,
                                         Index block_size = 0, Stream stream = {});

/// Runs of block_size rows; the last one may have less. @throws InvalidInput for a size below 1, or negative rows
TASKDAG_API JacobiBlocks consecutive_blocks(Index rows, Index block_size);

struct BlockJacobiOptions {
  int sweeps = 1;        ///< k >= 1: x₀ = 0, x_{s+1} = x_s + damping · weight_s · M⁻¹ (b − A x_s)
  double damping = 1.0;  ///< finite, not 0
  /// chebyshev: as with Jacobi, damping being the inverse of the largest eigenvalue of M⁻¹ A, or of a bound of it.
  JacobiWeights weights = JacobiWeights::constant;
  bool keep_matrix = false;  ///< with one sweep, too: for iterate()
  Index long_row = 4096;     ///< on CUDA a thread block has a row with more entries to itself; 0: never
};

struct BlockJacobiInfo {
  Index rows = 0;
  Index blocks = 0;
  Index largest_block = 0;         ///< in rows
  std::int64_t block_entries = 0;  ///< of all inverses
  std::int64_t bytes = 0;          ///< held, in the backend's memory
};

/// Applies k damped sweeps with M = blockdiag(A_bb). With one sweep and damping 1 it is PETSc's PCPBJACOBI or
/// PCVPBJACOBI, depending on the blocks. Entries that the pattern lacks are 0.
///
/// Inverses are made by Gauss–Jordan elimination with partial pivoting. A block with a column of zeros under the
/// elimination, or a NaN or an infinity in it or in its inverse, makes update_values() return zero_pivot or non_finite;
/// first_row is the first row of the matrix with that (zero_pivot: the row that stands where the column does). Such a
/// block's rows of a result is NaN.
///
/// Streams, captures and exceptions are as in TriangularSolver.
class TASKDAG_API BlockJacobi {
 public:
  /// The pattern of a square matrix in `space`, copied only if sweeps > 1 or keep_matrix. Synchronises `stream`.
  /// @throws InvalidInput, also for blocks that are not as JacobiBlocks says; DeviceError, OutOfMemory
  BlockJacobi(const Context& context, const CsrPattern& pattern, MemorySpace space, const JacobiBlocks& blocks,
              const BlockJacobiOptions& options = {}, Stream stream = {});
  ~BlockJacobi();
  BlockJacobi(BlockJacobi&&) noexcept;
  BlockJacobi& operator=(BlockJacobi&&) noexcept;

  /// Values, and `pattern` again in `space` (it is read, not compared). To be called before an application.
  /// Synchronises; with device memory nothing but the status comes to the host.
  /// After an exception another one is needed first.
  FactorStatus update_values(const CsrView& a, MemorySpace space, Stream stream = {});

  /// x = result of the sweeps on b. b, x: `rows` doubles in `space`; not aliased unless sweeps == 1.
  /// Asynchronous on `stream` for device memory. transposed: use Aᵀ and M⁻ᵀ in the sweeps; with several sweeps the
  /// first time needs the host, as in Jacobi::apply().
  void apply(const double* b, double* x, MemorySpace space, bool transposed = false, Stream stream = {});

  /// The k sweeps from the x that is there. b, x: as in apply(), not aliased. Asynchronous on `stream` for device
  /// memory. @throws InvalidInput, also with one sweep and without keep_matrix
  void iterate(const double* b, double* x, MemorySpace space, Stream stream = {});

  [[nodiscard]] const BlockJacobiInfo& info() const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace taskdag
