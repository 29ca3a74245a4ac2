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

/// The bands of a triangle, if it is one of a grid of five points with several lines. `lines`: what find_lines() has
/// found. Synchronises `stream`.
std::optional<Bands> find_bands(const SweepInput& input, const Lines& lines, cudaStream_t stream);

/// The most entries that a row has: one in the row before, one in the row a line before.
inline constexpr Index kBandEntries = 2;
/// Writes the sources of all entries: source[entry · rows + row in the order of the sweep] is the entry of
/// load_values() that the value comes from, −1 where the row has no such entry. Asynchronous.
void find_entries(const SweepInput& input, const Bands& bands, Offset* source, cudaStream_t stream);

/// Microseconds of a solve. docs/notes/bands.md has the measurements behind the constants.
double microseconds_of(const Bands& bands);
/// Device memory that the sweep will hold, about.
double bytes_of(const Bands& bands);

}  // namespace taskdag::kernels::cells
