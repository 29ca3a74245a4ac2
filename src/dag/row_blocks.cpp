#include "dag/row_blocks.hpp"

#include <algorithm>

namespace taskdag {

std::optional<std::string> find_shape_fault(const RowBlocks& blocks, Index rows) {
  const auto& by_block = blocks.block_offsets;
  const auto& by_colour = blocks.colour_offsets;
  if (by_block.empty() || by_block.front() != 0) return "the blocks do not start at row 0";
  if (by_colour.empty() || by_colour.front() != 0) return "the colours do not start at block 0";
  if (!std::ranges::is_sorted(by_block)) return "the offsets of the blocks descend";
  if (!std::ranges::is_sorted(by_colour)) return "the offsets of the colours descend";
  if (blocks.rows() != rows) {
    return "the blocks have " + std::to_string(blocks.rows()) + " rows of " + std::to_string(rows);
  }
  if (by_colour.back() != blocks.blocks()) {
    return "the colours have " + std::to_string(by_colour.back()) + " blocks of " + std::to_string(blocks.blocks());
  }
  return std::nullopt;
}

}  // namespace taskdag
