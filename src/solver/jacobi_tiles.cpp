#include "solver/jacobi_tiles.hpp"

#include <algorithm>
#include <utility>

#include "taskdag/block_ordering.hpp"

namespace taskdag {

kernels::JacobiTiles best_tiles(const Context& context, const CsrPattern& pattern, const CsrPattern& on_backend,
                                MemorySpace space, const TileWish& wish, Stream stream) {
  kernels::JacobiTiles best;
  double least = 0.0;
  Index tried = 0;
  // Blocks are of about the size that is asked for: up to twice as large. More than most_tiles need larger ones.
  for (const int eighths : {4, 6, 8, 10, 12, 16}) {
    const auto size = static_cast<Index>(std::max<std::int64_t>(std::int64_t{wish.rows} * eighths / 8, 1));
    if (size == tried || (wish.first && (eighths < 8 || best.depth > 0))) continue;
    tried = size;
    const BlockOrdering blocks = block_multicolour(context, on_backend, space, {.block_size = size}, stream);
    if (wish.most_tiles > 0 && blocks.blocks.blocks() > wish.most_tiles) continue;
    kernels::JacobiTiles tiles(pattern, blocks.order, blocks.blocks.block_offsets, wish.room, wish.most_depth);
    if (tiles.depth == 0) continue;
    const double cost = (wish.exchange + tiles.again) / tiles.depth;
    if (best.depth > 0 && cost >= least) continue;
    least = cost;
    best = std::move(tiles);
  }
  return best;
}

}  // namespace taskdag
