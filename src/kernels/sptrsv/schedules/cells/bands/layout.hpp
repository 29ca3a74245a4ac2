/// \file
/// How bands lie in memory: what loading values and solving share.
///
/// A band's entries are stored in *chunks* of kChunk steps. A step has two values a lane: that of the row before and
/// that of the row a line before, both negated and scaled by the row's inverse pivot. Lane 0 has no lane before it: a
/// shuffle gives it its own last result, so both of its values are half of the first one; the other one is in `edge`,
/// for the fetchers. Where a lane has no column, or a row no such entry, values are 0. In single precision they are
/// scaled before they are loaded.
#pragma once

#include <cstddef>

#include "kernels/sptrsv/schedules/cells/cut/bands.hpp"
#include "kernels/sptrsv/schedules/cells/layout.hpp"

namespace taskdag::kernels::cells {

inline constexpr int kChunk = 16;  ///< steps that are loaded, fed and stored at once

/// Bytes of entries. Value: double or float.
template <class Value>
struct BandBytes {
  static constexpr int kStep = kLanes * 2 * sizeof(Value);
  static constexpr int kChunk = cells::kChunk * kStep;
};

/// Steps of a band, in chunks: the last lane begins 31 steps after the first.
inline Index chunks_of(const Bands& bands) { return (bands.columns + kLanes - 1 + kChunk - 1) / kChunk; }

}  // namespace taskdag::kernels::cells
