/// \file
/// A coarser task: a tile of cells, which one worker walks diagonal by diagonal, a lane per row. Its rate in tasks per
/// second counts tiles.
#pragma once

#include "grid.hpp"

namespace wavefront {

struct TiledGrid : Grid {
  std::uint32_t tile;  ///< cells along a tile's side
  std::uint32_t tile_rows;
  std::uint32_t tile_columns;
};

template <int Lanes>
struct Tile {
  using Item = std::uint32_t;
  static constexpr auto name = "tile";
  static constexpr engine::WorkerSize worker{Lanes};
  static constexpr int max_children = 2;
  static constexpr bool waits = false;

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& item) {
    const TiledGrid& grid = context.data();
    const auto& group = context.group();
    const std::uint32_t tile_row = item / grid.tile_columns;
    const std::uint32_t tile_column = item % grid.tile_columns;
    const std::uint32_t row = tile_row * grid.tile;
    const std::uint32_t column = tile_column * grid.tile;
    const std::uint32_t height = grid.rows - row < grid.tile ? grid.rows - row : grid.tile;
    const std::uint32_t width = grid.columns - column < grid.tile ? grid.columns - column : grid.tile;
    const auto lanes = static_cast<std::uint32_t>(group.size());
    for (std::uint32_t diagonal = 0; diagonal + 1 < height + width; ++diagonal) {
      for (auto r = static_cast<std::uint32_t>(group.rank()); r < height && r <= diagonal; r += lanes) {
        if (diagonal - r < width) grid.compute(row + r, column + diagonal - r);
      }
      group.sync();
    }
    if (group.rank() == 0) go_on<Tile>(context, tile_row, tile_column, grid.tile_rows, grid.tile_columns, true);
  }
};

}  // namespace wavefront
