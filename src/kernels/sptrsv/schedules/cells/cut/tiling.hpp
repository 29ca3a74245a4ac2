/// \file
/// Cells that are tiles of the lines and planes of a structured grid.
///
/// A tile is some neighbouring lines of some neighbouring planes, with all their rows. A chain of dependencies meets
/// fewer tiles than runs of as many consecutive rows, so it hops less often between cells. Where operands lie ahead by
/// a line in the plane before (stencils with corners), tiles lean by a line a plane (`shear`), else two of them would
/// wait for each other.
#pragma once

#include <vector>

#include "base/macros.hpp"
#include "kernels/sptrsv/schedules/cells/cut/lines.hpp"

namespace taskdag {
struct DeviceRates;  // declared alone: kernels that know tiles need no calibrations
}  // namespace taskdag

namespace taskdag::kernels::cells {

/// Tiles of `lines` lines and `planes` planes.
struct TileShape {
  Index lines = 0;
  Index planes = 0;
};

struct Tiling {
  TileShape shape;
  int ways = 1;               ///< lanes of a row
  Index across = 0;           ///< tiles that a slab of `shape.planes` planes has room for
  int tiles = 0;              ///< tiles that have rows
  std::vector<Index> number;  ///< slab · across + tile in the slab → in an order in which tiles wait for earlier ones
  double microseconds = 0.0;  ///< that a solve takes, by the model below
  double bytes = 0.0;         ///< of device memory that the sweep will hold, about
};

/// The tiles of one shape, numbered by when they can start. The time is that of a simulation by the device's rates:
/// multiprocessors take tiles in order; a tile follows the tiles that it waits for at the distance of their first rows'
/// levels, a hop later, and takes the time of its steps and its fetchers, which overlap in part. docs/notes/tiles.md
/// has the measurements behind the constants.
Tiling make_tiling(const Lines& lines, TileShape shape, int ways, int multiprocessors, const DeviceRates& rates);

/// The fastest of some shapes and ways by the model. `tiles` is 0 where none of them suits.
Tiling choose_tiling(const Lines& lines, int multiprocessors, const DeviceRates& rates);

/// The tile that a row is in. number: Tiling::number, in the memory of the caller.
struct Tiles {
  Index rows;
  bool lower;
  Index line;
  Index plane;
  Index shear;
  TileShape shape;
  Index across;
  const Index* number;

  [[nodiscard]] TASKDAG_HD int operator()(Index row) const {
    const Index step = lower ? row : rows - 1 - row;
    const Index in_plane = step / plane;
    const Index in_line = step % plane / line;
    const Index slab = in_plane / shape.planes;
    return number[slab * across + (in_line + shear * (in_plane % shape.planes)) / shape.lines];
  }
};

inline Tiles tiles_of(const Lines& lines, const Tiling& tiling, Triangle triangle, const Index* number) {
  return {lines.rows, triangle == Triangle::lower, lines.line, lines.plane, lines.shear, tiling.shape, tiling.across,
          number};
}

}  // namespace taskdag::kernels::cells
