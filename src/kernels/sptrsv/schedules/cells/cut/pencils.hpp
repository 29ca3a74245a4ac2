/// \file
/// Grids of seven points and of 27: rows that wait for rows of their own line, of the line before it and of the plane
/// before, a step away in each direction at most, and for nothing else.
#pragma once

#include <optional>

#include "kernels/sptrsv/schedules/cells/cut/lines.hpp"
#include "kernels/sptrsv/schedules/cells/layout.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels::cells {

/// A row waits for the row before it, for the one a line before and for the one a plane before.
struct SevenPoints {
  using Grid = SevenPoints;              ///< in whatever precision
  using Value = double;                  ///< in which entries are stored
  static constexpr Index kEntries = 3;   ///< of a row, at most
  static constexpr Index kPlanes = 4;    ///< of a pencil
  static constexpr Index kPassing = 1;   ///< lanes that have no line, and pass on the last ones of the pencil before
  static constexpr Index kBehind = 1;    ///< columns that a lane is behind the lane before it
  static constexpr Index kShear = 0;     ///< lines by which the lanes of a plane are shifted against the plane below
  static constexpr int kGroup = 8;       ///< steps that are loaded at once
  static constexpr int kStages = 4;      ///< groups that are on their way or in use
  static constexpr int kMovers = 2;      ///< warps a plane that move vectors
  static constexpr bool kAlone = false;  ///< whether no other warps run on the schedulers of runners

  /// Which entry of a row it is whose operand lies so many planes, lines and columns before: −1 where it has none such.
  TASKDAG_HD static int entry(Index planes, Index lines, Index columns) {
    if (planes == 0 && lines == 0 && columns == 1) return 0;
    if (planes == 0 && lines == 1 && columns == 0) return 1;
    return planes == 1 && lines == 0 && columns == 0 ? 2 : -1;
  }
};

/// A row waits for the row before it, for three of the line before, and for nine of the plane before. With lines
/// shifted by one from plane to plane no lane waits for a lane after it.
struct TwentySevenPoints {
  using Grid = TwentySevenPoints;
  using Value = double;
  static constexpr Index kEntries = 13;
  static constexpr Index kPlanes = 2;
  static constexpr Index kPassing = 2;
  static constexpr Index kBehind = 2;
  static constexpr Index kShear = 1;
  static constexpr int kGroup = 8;
  static constexpr int kStages = 3;
  static constexpr int kMovers = 1;
  static constexpr bool kAlone = true;

  /// Those of a line one after the other, from the column after the row's on.
  TASKDAG_HD static int entry(Index planes, Index lines, Index columns) {
    if (planes == 0 && lines == 0) return columns == 1 ? 0 : -1;
    if (columns < -1 || columns > 1) return -1;
    if (planes == 0) return lines == 1 ? 2 + columns : -1;
    return planes == 1 && lines >= -1 && lines <= 1 ? 5 + 3 * (lines + 1) + columns : -1;
  }
};

/// The same grid with entries in single precision (SweepInput::precision).
template <class Grid>
struct InSingle : Grid {
  using Value = float;
};

/// Rows count in the direction of the sweep: row r is that of column r % columns of line r / columns % lines of plane
/// r / (columns · lines). A *slab* is kPlanes planes, and a *pencil* kLines lines of each of them: line l of plane z is
/// in band (l + kShear · z) / kLines. Pencils count band by band of a slab, slab by slab; some have no line.
template <class Points>
struct Pencils {
  static constexpr Index kLines = kLanes - Points::kPassing;

  Index columns = 0;
  Index lines = 0;  ///< of a plane
  Index planes = 0;
  [[nodiscard]] TASKDAG_HD Index slabs() const { return (planes + Points::kPlanes - 1) / Points::kPlanes; }
  [[nodiscard]] TASKDAG_HD Index first_band(Index slab) const {
    return Points::kShear * Points::kPlanes * slab / kLines;
  }
  /// With lines, or where they are shifted with lines that it passes on to the slab above.
  [[nodiscard]] TASKDAG_HD Index last_band(Index slab) const {
    return (Points::kShear * (Points::kPlanes * slab + Points::kPlanes - 1 + Points::kPassing) + lines - 1) / kLines;
  }
  /// Bands of so many slabs, or one more.
  [[nodiscard]] TASKDAG_HD Index in_slabs(Index count) const {
    constexpr Index kAnywhere = Points::kShear == 0 ? 0 : kLines - 1;  // where in a band they may begin
    return (lines + Points::kShear * (Points::kPlanes * count - 1 + Points::kPassing) - 1 + kAnywhere) / kLines + 1;
  }
  [[nodiscard]] TASKDAG_HD Index in_slab() const { return in_slabs(1); }
  [[nodiscard]] TASKDAG_HD Index count() const { return in_slab() * slabs(); }
};

/// The same pencils with entries in another precision.
template <class To, class From>
Pencils<To> with_entries_of(const Pencils<From>& pencils) {
  return {pencils.columns, pencils.lines, pencils.planes};
}

/// Nothing where there are other entries, or one plane. `lines`: what find_lines() has found. Synchronises `stream`.
template <class Points>
std::optional<Pencils<Points>> find_pencils(const SweepInput& input, const Lines& lines, cudaStream_t stream);

/// Notes the sources of the entries of all rows, in the order of the sweep: what load_values() takes for them, −1 where
/// there is none. `source`: kEntries · rows, entry by entry. Asynchronous.
template <class Points>
void find_entries(const SweepInput& input, const Pencils<Points>& pencils, Offset* source, cudaStream_t stream);

/// Microseconds of a solve. docs/notes/pencils.md has the measurements behind the constants.
double microseconds_of(const Pencils<SevenPoints>& pencils);
double microseconds_of(const Pencils<TwentySevenPoints>& pencils);
/// Device memory that the sweep will hold, about.
template <class Points>
double bytes_of(const Pencils<Points>& pencils) {
  const double rows = static_cast<double>(pencils.columns) * pencils.lines * pencils.planes;
  const double steps = pencils.columns + Points::kBehind * kLanes + 7.0;  // half of a chunk more
  constexpr double kStepPlaces = Points::kEntries * Points::kPlanes * kLanes;
  constexpr double kStepSlots = 2.0 * (kLanes + Points::kPlanes * Points::kPassing);
  return sizeof(double) * ((kStepPlaces + kStepSlots) * pencils.count() * steps + 2 * rows) +
         sizeof(Offset) * Points::kEntries * rows;
}

}  // namespace taskdag::kernels::cells
