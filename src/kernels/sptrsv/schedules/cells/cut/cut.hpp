/// \file
/// How rows are cut into cells.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "kernels/sptrsv/schedules/cells/cut/bands.hpp"
#include "kernels/sptrsv/schedules/cells/cut/pencils.hpp"
#include "kernels/sptrsv/schedules/cells/cut/tiling.hpp"

namespace taskdag::kernels::cells {

/// How a triangle is cut: into runs of consecutive rows with about equally many entries, tiles of lines, bands of a
/// grid of five points, or pencils of a grid of seven points or of 27.
struct Cut {
  int cells = 1;
  std::optional<std::pair<Lines, Tiling>> tiles{};
  int ways = 1;  ///< lanes of a row: 1, 2, 4
  /// The levels by which rows of a cell are sorted (late.hpp); null: those of the sweep's input.
  std::shared_ptr<const RowLevels> late{};
  std::optional<Bands> bands{};
  std::optional<Pencils<SevenPoints>> pencils_of_7{};
  std::optional<Pencils<TwentySevenPoints>> pencils_of_27{};
  std::optional<Pencils<ThreeUnknowns>> pencils_of_three{};

  /// Whether cells follow the lines of a grid: then rewriting the triangle on the same rows would make it slower.
  [[nodiscard]] bool by_lines() const { return tiles || of_grid(); }
  /// Whether entries may be stored in that precision.
  [[nodiscard]] bool has(Precision precision) const { return precision == Precision::in_double || of_grid(); }
  /// Whether these are bands or pencils.
  [[nodiscard]] bool of_grid() const { return bands || pencils_of_7 || pencils_of_27 || pencils_of_three; }
};

inline Cut cut_of(const Lines& lines, Tiling tiling) {
  const int cells = tiling.tiles;
  const int ways = tiling.ways;
  return {cells, {{lines, std::move(tiling)}}, ways, nullptr};
}

inline Cut cut_of(const Bands& bands) { return {.cells = bands.bands(), .bands = bands}; }
inline Cut cut_of(const Pencils<SevenPoints>& pencils) { return {.cells = pencils.count(), .pencils_of_7 = pencils}; }
inline Cut cut_of(const Pencils<TwentySevenPoints>& pencils) {
  return {.cells = pencils.count(), .pencils_of_27 = pencils};
}
inline Cut cut_of(const Pencils<ThreeUnknowns>& pencils) {
  return {.cells = pencils.count(), .pencils_of_three = pencils};
}

}  // namespace taskdag::kernels::cells
