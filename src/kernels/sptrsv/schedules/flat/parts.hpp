/// \file
/// Long rows in parts: several warps add one row up.
#pragma once

#include <optional>

#include "kernels/sptrsv/analysis/levels.hpp"

namespace taskdag::kernels {

/// Rows of more entries are cut into parts of at most so many. A warp adds a part up in one batch of operands, about
/// as long as a hop between rows takes; shorter parts make more tasks, and more sums for the row to wait for.
inline constexpr Index kPartEntries = 256;

/// The rows of a triangle and, numbered on behind them, the parts of its long rows: *items*, each with a level.
///
/// A part has the level that its own operands give it; it has no right-hand side and no element of the result. A row in
/// parts waits for these alone, and the long rows of a level are a level of their own behind it: so a row and its parts
/// are never in one warp task, nor in one level. Levels are numbered anew, in the same order.
struct CutTriangle {
  Index parts;
  /// Of items. first: ~p where the entries of a row are its parts, items p, p + 1, …
  TriangleRanges ranges;
  RowLevels levels;
};

/// Nothing where no row has more than kPartEntries entries. Synchronises `stream`.
std::optional<CutTriangle> cut_long_rows(const DevicePattern& pattern, const TriangleRanges& ranges,
                                         const RowLevels& levels, cudaStream_t stream);

}  // namespace taskdag::kernels
