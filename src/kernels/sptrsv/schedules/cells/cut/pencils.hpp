/// \file
/// Grids of seven points: rows that wait for the row before them, for the one a line before and for the one a plane
/// before, and for nothing else.
#pragma once

#include <optional>

#include "kernels/sptrsv/schedules/cells/cut/lines.hpp"
#include "kernels/sptrsv/schedules/cells/layout.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels::cells {

inline constexpr Index kPencilLines = kLanes - 1;
inline constexpr Index kPencilPlanes = 4;

/// Rows count in the direction of the sweep: row r is that of column r % columns of line r / columns % lines of plane
/// r / (columns · lines). A *pencil* is kPencilLines lines of kPencilPlanes planes. Pencils count line by line of a
/// slab, slab by slab.
struct Pencils {
  Index columns = 0;
  Index lines = 0;  ///< of a plane
  Index planes = 0;
  [[nodiscard]] TASKDAG_HD Index in_slab() const { return (lines + kPencilLines - 1) / kPencilLines; }
  [[nodiscard]] TASKDAG_HD Index slabs() const { return (planes + kPencilPlanes - 1) / kPencilPlanes; }
  [[nodiscard]] TASKDAG_HD Index count() const { return in_slab() * slabs(); }
};

/// Nothing where there are other entries, or one plane. `lines`: what find_lines() has found. Synchronises `stream`.
std::optional<Pencils> find_pencils(const SweepInput& input, const Lines& lines, cudaStream_t stream);

/// Sources of the entries of all rows, in the order of the sweep: what load_values() takes for them, −1 where there is
/// none.
struct PencilEntries {
  Offset* before;        ///< in the row before
  Offset* line_before;   ///< in the row a line before
  Offset* plane_before;  ///< in the row a plane before
};
void find_entries(const SweepInput& input, const Pencils& pencils, const PencilEntries& entries, cudaStream_t stream);

/// Microseconds of a solve. docs/notes/pencils.md has the measurements behind the constants.
double microseconds_of(const Pencils& pencils);
/// Device memory that the sweep will hold, about.
double bytes_of(const Pencils& pencils);

}  // namespace taskdag::kernels::cells
