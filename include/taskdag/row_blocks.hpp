/// \file
/// Blocks of consecutive rows that an ordering has made independent of each other, colour by colour.
#pragma once

#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag {

/// Rows in blocks, blocks in colours, as block multicolour orderings leave them: block b holds the consecutive rows
/// [block_offsets[b], block_offsets[b + 1]), colour c the consecutive blocks [colour_offsets[c], colour_offsets[c +
/// 1]). No entry of the matrix couples two blocks of one colour, so a triangular solve may run all blocks of a colour
/// at once. Both arrays start at 0, do not descend, and end at the number of rows and of blocks.
struct RowBlocks {
  std::vector<Index> block_offsets{0};
  std::vector<Index> colour_offsets{0};

  [[nodiscard]] Index rows() const { return block_offsets.back(); }
  [[nodiscard]] Index blocks() const { return static_cast<Index>(block_offsets.size()) - 1; }
  [[nodiscard]] Index colours() const { return static_cast<Index>(colour_offsets.size()) - 1; }
};

}  // namespace taskdag
