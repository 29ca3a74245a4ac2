#include "kernels/sptrsv/schedules/supersteps/cover.hpp"

#include <algorithm>

#include "base/index.hpp"

namespace taskdag::kernels::supersteps {

namespace {

/// Blocks in the direction of the sweep, by position.
class Blocks {
 public:
  Blocks(const RowBlocks& blocks, Triangle triangle) : blocks_(blocks), lower_(triangle == Triangle::lower) {}

  [[nodiscard]] CellRange block(Index b) const {
    const Index rows = blocks_.block_offsets[at(b + 1)] - blocks_.block_offsets[at(b)];
    return {lower_ ? blocks_.block_offsets[at(b)] : blocks_.rows() - blocks_.block_offsets[at(b + 1)], rows};
  }
  /// The k-th block of the sweep's c-th colour.
  [[nodiscard]] CellRange block(Index c, Index k) const {
    return lower_ ? block(first(c) + k) : block(first(c) + blocks_in(c) - 1 - k);
  }
  [[nodiscard]] Index blocks_in(Index c) const { return blocks_.colour_offsets[at(own(c) + 1)] - first(c); }

 private:
  [[nodiscard]] Index own(Index c) const { return lower_ ? c : blocks_.colours() - 1 - c; }
  [[nodiscard]] Index first(Index c) const { return blocks_.colour_offsets[at(own(c))]; }

  const RowBlocks& blocks_;
  bool lower_;
};

}  // namespace

Cover cover_blocks(const RowBlocks& blocks, Triangle triangle, Index most_rows) {
  const Blocks sweep(blocks, triangle);
  Cover cover;
  for (Index colour = 0; colour < blocks.colours(); ++colour) {
    std::vector<std::vector<CellRange>> pieces(1);
    CellRange open{0, 0};
    const auto close = [&] {
      if (open.rows > 0) pieces[0].push_back(open);
      open.rows = 0;
    };
    for (Index k = 0; k < sweep.blocks_in(colour); ++k) {
      const CellRange block = sweep.block(colour, k);
      if (block.rows == 0) continue;
      if (open.rows + block.rows > most_rows) close();
      if (block.rows <= most_rows) {
        if (open.rows == 0) open.first = block.first;
        open.rows += block.rows;
        continue;
      }
      const Index parts = (block.rows + most_rows - 1) / most_rows;
      if (at(parts) > pieces.size()) pieces.resize(at(parts));
      for (Index part = 0; part < parts; ++part) {
        const Index begin = static_cast<Index>(std::int64_t{block.rows} * part / parts);
        const Index end = static_cast<Index>(std::int64_t{block.rows} * (part + 1) / parts);
        pieces[at(part)].push_back({block.first + begin, end - begin});
      }
    }
    close();
    for (const std::vector<CellRange>& piece : pieces) {
      if (piece.empty()) continue;
      cover.cells.insert(cover.cells.end(), piece.begin(), piece.end());
      cover.superstep_offsets.push_back(static_cast<Index>(cover.cells.size()));
    }
  }
  return cover;
}

}  // namespace taskdag::kernels::supersteps
