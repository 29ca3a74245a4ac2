/// \file
/// Where the rows of the blocks of block Jacobi stand.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/jacobi/blocks/inverse.hpp"
#include "taskdag/block_jacobi.hpp"

namespace taskdag::kernels {

static_assert(kMostRowsOfJacobiBlock == kSliceRows, "a block is in one slice, and a bit for each row fits a word");

/// The block of a row: places of its slice.
struct BlockSpan {
  std::uint8_t first = 0;
  std::uint8_t size = 0;  ///< 0: an idle place
};

/// The layout as kernels see it. *Places* are counted over all slices: kSliceRows each.
struct BlockSlices {
  Index slices;
  const Index* row;       ///< by place; −1: idle
  const BlockSpan* span;  ///< by place
  const Index* place;     ///< by row
  /// By slice: its first value; the next one's is as many times kSliceRows further as its largest block has rows.
  const std::int64_t* offset;

  [[nodiscard]] TASKDAG_HD int width(Index slice) const {
    return static_cast<int>((offset[slice + 1] - offset[slice]) / kSliceRows);
  }
};

/// Blocks in slices, those of a size together and otherwise in the order of their first rows, so that neighbours are
/// read at about the same time.
struct BlockLayout {
  explicit BlockLayout(const JacobiBlocks& blocks);

  [[nodiscard]] BlockSlices slices() const;
  [[nodiscard]] std::int64_t values() const { return offset.back(); }

  Index blocks = 0;
  Index largest = 0;
  std::int64_t block_entries = 0;
  std::vector<Index> row;
  std::vector<BlockSpan> span;
  std::vector<Index> place;
  std::vector<std::int64_t> offset{0};
};

}  // namespace taskdag::kernels
