/// \file
/// Compact tiles of a matrix for Jacobi sweeps.
#pragma once

#include "kernels/jacobi/tiles.hpp"
#include "taskdag/context.hpp"

namespace taskdag {

struct TileWish {
  Index rows;        ///< of a tile, about
  Index most_tiles;  ///< none: any number
  kernels::TileRoom room;
  int most_depth;
  /// What an exchange of values costs, in sweeps of the rows alone.
  double exchange;
  bool first = false;  ///< the first size that fits, instead of the best of several: set-up takes less
};

/// Blocks of the given size, some smaller and some larger, as tiles: those for which sweeps cost least. depth 0 where
/// none fit. pattern: in host memory; on_backend: the same where the context's backend orders it. Synchronises.
kernels::JacobiTiles best_tiles(const Context& context, const CsrPattern& pattern, const CsrPattern& on_backend,
                                MemorySpace space, const TileWish& wish, Stream stream);

}  // namespace taskdag
