/// \file
/// How rows are cut into cells.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "kernels/sptrsv/schedules/cells/cut/tiling.hpp"

namespace taskdag::kernels::cells {

/// Runs of consecutive rows with about equally many entries, or the tiles of lines.
struct Cut {
  int cells = 1;
  std::optional<std::pair<Lines, Tiling>> tiles;
  int ways = 1;  ///< lanes of a row: 1, 2, 4
  /// The levels by which rows of a cell are sorted (late.hpp); null: those of the sweep's input.
  std::shared_ptr<const RowLevels> late;
};

inline Cut cut_of(const Lines& lines, Tiling tiling) {
  const int cells = tiling.tiles;
  const int ways = tiling.ways;
  return {cells, {{lines, std::move(tiling)}}, ways, nullptr};
}

}  // namespace taskdag::kernels::cells
