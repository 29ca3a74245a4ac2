/// \file
/// Which rows share a thread block.
#pragma once

#include <vector>

#include "taskdag/row_blocks.hpp"
#include "taskdag/schedule.hpp"

namespace taskdag::kernels::supersteps {

/// Rows first … first + rows − 1, by position.
struct PortionRange {
  Index first;
  Index rows;
};

/// Portions by superstep. Positions count rows in the direction of the sweep.
struct Cover {
  std::vector<PortionRange> portions;
  /// Portions of superstep s: [superstep_offsets[s], superstep_offsets[s + 1]).
  std::vector<Index> superstep_offsets{0};

  [[nodiscard]] Index supersteps() const { return static_cast<Index>(superstep_offsets.size()) - 1; }
};

/// Covers the blocks of each colour by portions of at most `most_rows` rows: several small blocks, or a piece of a
/// large one. Pieces of a block run in successive supersteps of its colour. Both triangles have the same portions, and
/// their supersteps the other way round; portions of a superstep come in the order of the blocks, so that those that
/// hold operands of the first ones have been run long ago.
Cover cover_blocks(const RowBlocks& blocks, Triangle triangle, Index most_rows);

}  // namespace taskdag::kernels::supersteps
