/// \file
/// Grids of five points: rows that wait for the row before them and for the one a line before, and for nothing else.
#pragma once

#include <optional>

#include "kernels/sptrsv/schedules/cells/cut/lines.hpp"
#include "kernels/sptrsv/schedules/cells/layout.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels::cells {

/// Rows count in the direction of the sweep: row r is that of column r % columns of line r / columns. It may have one
/// entry in the row before it, unless its column is 0, and one in the row a line before. A *band* is kLanes lines.
struct Bands {
  Index columns = 0;
  Index lines = 0;
  [[nodiscard]] TASKDAG_HD Index bands() const { return (lines + kLanes - 1) / kLanes; }
};

/// Nothing where there are other entries, or one line. `lines`: what find_lines() has found. Synchronises `stream`.
std::optional<Bands> find_bands(const SweepInput& input, const Lines& lines, cudaStream_t stream);

/// Entries of a row, at most: in the row before, in the row a line before.
inline constexpr Index kBandEntries = 2;
/// Notes the sources of the entries of all rows, in the order of the sweep: what load_values() takes for them, −1 where
/// there is none. `source`: kBandEntries · rows, entry by entry. Asynchronous.
void find_entries(const SweepInput& input, const Bands& bands, Offset* source, cudaStream_t stream);

/// Microseconds of a solve. docs/notes/bands.md has the measurements behind the constants.
double microseconds_of(const Bands& bands);
/// Device memory that the sweep will hold, about.
double bytes_of(const Bands& bands);

}  // namespace taskdag::kernels::cells
