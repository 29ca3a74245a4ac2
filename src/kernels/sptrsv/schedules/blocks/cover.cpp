#include "kernels/sptrsv/schedules/blocks/cover.hpp"

#include <algorithm>

#include "base/index.hpp"

namespace taskdag::kernels::supersteps {

namespace {

/// The lower triangle's.
Cover cover_forward(const RowBlocks& blocks, Index most_rows) {
  Cover cover;
  for (Index colour = 0; colour < blocks.colours(); ++colour) {
    std::vector<std::vector<PortionRange>> pieces(1);
    PortionRange open{0, 0};
    const auto close = [&] {
      if (open.rows > 0) pieces[0].push_back(open);
      open.rows = 0;
    };
    for (Index b = blocks.colour_offsets[at(colour)]; b < blocks.colour_offsets[at(colour + 1)]; ++b) {
      const PortionRange block{blocks.block_offsets[at(b)],
                               blocks.block_offsets[at(b + 1)] - blocks.block_offsets[at(b)]};
      if (block.rows == 0) continue;
      if (open.rows + block.rows > most_rows) close();
      if (block.rows <= most_rows) {
        if (open.rows == 0) open.first = block.first;
        open.rows += block.rows;
        continue;
      }
      const Index count = (block.rows + most_rows - 1) / most_rows;
      if (at(count) > pieces.size()) pieces.resize(at(count));
      for (Index piece = 0; piece < count; ++piece) {
        const Index begin = static_cast<Index>(std::int64_t{block.rows} * piece / count);
        const Index end = static_cast<Index>(std::int64_t{block.rows} * (piece + 1) / count);
        pieces[at(piece)].push_back({block.first + begin, end - begin});
      }
    }
    close();
    for (const std::vector<PortionRange>& piece : pieces) {
      if (piece.empty()) continue;
      cover.portions.insert(cover.portions.end(), piece.begin(), piece.end());
      cover.superstep_offsets.push_back(static_cast<Index>(cover.portions.size()));
    }
  }
  return cover;
}

}  // namespace

Cover cover_blocks(const RowBlocks& blocks, Triangle triangle, Index most_rows) {
  Cover forward = cover_forward(blocks, most_rows);
  if (triangle == Triangle::lower) return forward;
  Cover cover;
  for (Index s = forward.supersteps() - 1; s >= 0; --s) {
    for (Index c = forward.superstep_offsets[at(s)]; c < forward.superstep_offsets[at(s + 1)]; ++c) {
      const PortionRange& portion = forward.portions[at(c)];
      cover.portions.push_back({blocks.rows() - portion.first - portion.rows, portion.rows});
    }
    cover.superstep_offsets.push_back(static_cast<Index>(cover.portions.size()));
  }
  return cover;
}

}  // namespace taskdag::kernels::supersteps
