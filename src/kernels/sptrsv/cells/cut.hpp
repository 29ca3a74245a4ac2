/// \file
/// How rows are cut into cells.
#pragma once

#include <optional>
#include <utility>

#include "kernels/sptrsv/cells/tiling.hpp"

namespace taskdag::kernels::cells {

/// Runs of consecutive rows with about equally many entries, or the tiles of lines.
struct Cut {
  int cells = 1;
  std::optional<std::pair<Lines, Tiling>> tiles;
};

}  // namespace taskdag::kernels::cells
