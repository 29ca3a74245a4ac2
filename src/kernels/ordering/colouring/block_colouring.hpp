/// \file
/// From blocks of rows to their order: blocks that are too large are cut, coupled blocks get different colours.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/ordering/colouring/aggregation.hpp"

namespace taskdag::kernels {

/// Rows sorted by block, inside a block by index, cut into the final blocks: block p holds positions
/// [offsets[p], offsets[p + 1]).
std::vector<Index> cut_blocks(std::span<const Index> rows_of_block, Index block_size);

/// Where the blocks go. `first`: where block p's first row goes; the others follow it.
struct BlockPositions {
  std::vector<Index> first;
  RowBlocks blocks;
};

/// Colours the blocks (first fit by number with one round of improvement, or smallest last where that needs fewer
/// colours) and sorts them by colour, then number.
/// couplings: p · blocks + q with p < q for each pair of coupled blocks, ascending, each once.
BlockPositions arrange_blocks(std::span<const Index> offsets, std::span<const std::uint64_t> couplings);

/// All of it on the threads of `pool`, for blocks of more than one row.
BlockOrdering order_by_blocks(const GraphView& graph, const BlockSize& size, host::ThreadPool& pool);

/// The multicolour ordering on the threads of `pool`.
BlockOrdering order_by_points(const GraphView& graph, host::ThreadPool& pool);

}  // namespace taskdag::kernels
