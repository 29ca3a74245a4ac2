/// \file
/// Grids of seven points and of 27, these with one unknown a point or three: rows that wait for rows of their own line,
/// of the line before it and of the plane before, a step away in each direction at most, and for nothing else.
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
  static constexpr Index kUnknowns = 1;  ///< of a point, a row each; that many lanes have a line
  static constexpr Index kEntries = 3;   ///< of a row, at most
  static constexpr Index kPlanes = 4;    ///< of a pencil
  static constexpr Index kPassing = 1;   ///< places that compute no line: they pass on those of the band before
  static constexpr Index kBehind = 1;    ///< columns that a line is behind the line before it
  static constexpr Index kShear = 0;     ///< lines by which the lanes of a plane are shifted against the plane below
  static constexpr int kGroup = 8;       ///< steps that are loaded at once
  static constexpr int kStages = 4;      ///< groups that are on their way or in use
  static constexpr int kMovers = 2;      ///< warps a plane that move vectors
  static constexpr bool kAlone = false;  ///< whether no other warps run on the schedulers of compute warps

  /// The number of the entry whose operand is `unknown` of the point so many planes, lines and columns before the
  /// row's; −1: rows have no such entry.
  TASKDAG_HD static int entry(Index planes, Index lines, Index columns, Index /*unknown*/) {
    if (planes == 0 && lines == 0 && columns == 1) return 0;
    if (planes == 0 && lines == 1 && columns == 0) return 1;
    return planes == 1 && lines == 0 && columns == 0 ? 2 : -1;
  }
  /// How many steps before its row's step an entry is multiplied; there it is stored.
  TASKDAG_HD static constexpr Index lead(int /*entry*/) { return 0; }
};

/// A row waits for the row before it, for three of the line before, and for nine of the plane before; where points have
/// several unknowns, one row after the other, for all of these points, and for those before it of its own. With lines
/// shifted by one from plane to plane no lane waits for a lane after it.
template <Index Unknowns>
struct PointsOf27 {
  static constexpr Index kUnknowns = Unknowns;
  static constexpr Index kEntries = 14 * kUnknowns - 1;
  static constexpr Index kPassing = 2;
  static constexpr Index kBehind = 2;
  static constexpr Index kShear = 1;
  static constexpr bool kAlone = true;

  static constexpr int kOwnPoint = 3 * kUnknowns;  ///< the first entry whose operand is of the row's own point
  static constexpr int kLate = 4 * kUnknowns - 1;  ///< entries that a row waits for to the last: the first ones

  /// By points: the one before; in the line before, and in the line after of the plane before, the one after the row's;
  /// its own; then the others of the line before, of the plane before the line after, beside, before, each from the
  /// column after the row's on.
  TASKDAG_HD static int entry(Index planes, Index lines, Index columns, Index unknown) {
    if (planes == 0 && lines == 0) return columns == 0 ? kOwnPoint + unknown : columns == 1 ? unknown : -1;
    if (columns < -1 || columns > 1 || lines < (planes == 0 ? 1 : -1) || lines > 1) return -1;
    if (planes == 0) return columns == -1 ? kUnknowns + unknown : kLate + kUnknowns * columns + unknown;
    if (planes != 1) return -1;
    if (lines == -1) return columns == -1 ? 2 * kUnknowns + unknown : kLate + kUnknowns * (2 + columns) + unknown;
    return kLate + kUnknowns * (5 + 3 * lines + columns) + unknown;
  }
  /// An entry is multiplied when its operand comes: those of the line before and of the line after in the plane before
  /// up to two steps before the row's, those beside in that plane up to three, and of the line before there up to four.
  TASKDAG_HD static constexpr Index lead(int entry) {
    if (entry < kLate) return 0;
    const int point = (entry - kLate) / kUnknowns;
    if (point < 4) return 1 + point % 2;
    return point < 7 ? point - 3 : point - 5;
  }
};
struct TwentySevenPoints : PointsOf27<1> {
  using Grid = TwentySevenPoints;
  using Value = double;
  static constexpr Index kPlanes = 2;
  static constexpr int kGroup = 8;
  static constexpr int kStages = 3;
  static constexpr int kMovers = 1;
};
struct ThreeUnknowns : PointsOf27<3> {
  using Grid = ThreeUnknowns;
  using Value = double;
  static constexpr Index kPlanes = 1;
  static constexpr int kGroup = 4;
  static constexpr int kStages = 4;
  static constexpr int kMovers = 2;
};

/// The same grid with entries in single precision (SweepInput::precision).
template <class Grid>
struct InSingle : Grid {
  using Value = float;
};

/// Rows count in the direction of the sweep: row r is an unknown of point p = r / kUnknowns, which is in column
/// p % columns of line p / columns % lines of plane p / (columns · lines). A *slab* is kPlanes planes, and a *pencil*
/// kLines lines of each of them: line l of plane z is in band (l + kShear · z) / kLines. Pencils count band by band of
/// a slab, slab by slab; some have no line.
template <class Points>
struct Pencils {
  static constexpr Index kPlaces = kLanes / Points::kUnknowns;  ///< for a line each; some may have none
  static constexpr Index kLines = kPlaces - Points::kPassing;

  Index columns = 0;
  Index lines = 0;  ///< of a plane
  Index planes = 0;
  [[nodiscard]] TASKDAG_HD Index rows() const { return Points::kUnknowns * columns * lines * planes; }
  [[nodiscard]] TASKDAG_HD Index slabs() const { return (planes + Points::kPlanes - 1) / Points::kPlanes; }
  [[nodiscard]] TASKDAG_HD Index first_band(Index slab) const {
    return Points::kShear * Points::kPlanes * slab / kLines;
  }
  /// The last band of a slab that has lines or, where lines are shifted, passes lines on to the slab above.
  [[nodiscard]] TASKDAG_HD Index last_band(Index slab) const {
    return (Points::kShear * (Points::kPlanes * slab + Points::kPlanes - 1 + Points::kPassing) + lines - 1) / kLines;
  }
  /// How many bands `count` slabs have, or one more.
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

/// The pencils of a triangle, if it is one of such a grid with several planes. `lines`: what find_lines() has found.
/// Synchronises `stream`.
template <class Points>
std::optional<Pencils<Points>> find_pencils(const SweepInput& input, const Lines& lines, cudaStream_t stream);

/// Writes the sources of all entries: source[entry · rows + row in the order of the sweep] is the entry of
/// load_values() that the value comes from, −1 where the row has no such entry. Asynchronous.
template <class Points>
void find_entries(const SweepInput& input, const Pencils<Points>& pencils, Offset* source, cudaStream_t stream);

/// Microseconds of a solve. docs/notes/pencils.md has the measurements behind the constants.
double microseconds_of(const Pencils<SevenPoints>& pencils);
double microseconds_of(const Pencils<TwentySevenPoints>& pencils);
double microseconds_of(const Pencils<ThreeUnknowns>& pencils);
/// Device memory that the sweep will hold, about.
template <class Points>
double bytes_of(const Pencils<Points>& pencils) {
  const double rows = pencils.rows();
  const double steps = pencils.columns + Points::kBehind * Pencils<Points>::kPlaces + 7.0;  // half of a chunk more
  constexpr double kStepEntries = Points::kEntries * Points::kPlanes * kLanes;
  constexpr double kStepSlots = 2.0 * (kLanes + Points::kPlanes * Points::kPassing * Points::kUnknowns);
  return sizeof(double) * ((kStepEntries + kStepSlots) * pencils.count() * steps + 2 * rows) +
         sizeof(Offset) * Points::kEntries * rows;
}

}  // namespace taskdag::kernels::cells
