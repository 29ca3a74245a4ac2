/// \file
/// How pencils lie in memory: what loading values and solving share.
///
/// A plane of a pencil has a compute warp. It has kPlaces places for lines, of kUnknowns lanes each, a lane an unknown:
/// at its step t place p computes column t − kBehind · p of its line. The first kPassing places have no line: they pass
/// on the results of the last lines of the band before. A step has kEntries values a lane, negated and scaled by the
/// row's inverse pivot, in the order of Points::entry(): two by two, the last one behind all pairs. They are those of
/// the row that is computed lead() steps later. Where there is no such row, or it has no such entry, values are 0. In
/// single precision they are scaled before they are loaded.
#pragma once

#include <cstddef>
#include <type_traits>

#include "kernels/sptrsv/schedules/cells/cut/pencils.hpp"

namespace taskdag::kernels::cells {

inline constexpr int kPencilChunk = 16;  ///< steps that are fed and stored at once

/// Lanes that pass on lines, the first ones, and values that a step hands on to them in the next band.
template <class Points>
inline constexpr int kPassingLanes = Points::kPassing* Points::kUnknowns;
template <class Points>
inline constexpr int kLineValues = Points::kPlanes* kPassingLanes<Points>;

/// Whether sources of entries are soon found in the rows of a pattern: there are few.
template <class Points>
inline constexpr bool kFindsSources = std::is_same_v<typename Points::Grid, SevenPoints>;

/// Bytes of entries.
template <class Points>
struct PencilBytes {
  static constexpr int kValue = sizeof(typename Points::Value);
  static constexpr int kSingles = kLanes * (Points::kEntries - 1) * kValue;  ///< where a step's last values begin
  static constexpr int kPlaneStep = kLanes * Points::kEntries * kValue;
  static constexpr int kStep = Points::kPlanes * kPlaneStep;
  static constexpr int kGroup = Points::kGroup * kStep;
};

/// Steps of a pencil: in the last one no lane has a column where operands come a step ahead.
template <class Points>
TASKDAG_HD Index steps_of(const Pencils<Points>& pencils) {
  const Index steps = pencils.columns + Points::kBehind * (Pencils<Points>::kPlaces - 1) + Points::kShear;
  return (steps + kPencilChunk - 1) / kPencilChunk * kPencilChunk;
}

/// Where a pencil lies in the grid.
template <class Points>
struct PencilLocation {
  Index slab;
  Index band;

  /// Among all pencils.
  [[nodiscard]] TASKDAG_HD Index number(const Pencils<Points>& pencils) const {
    return slab * pencils.in_slab() + band - pencils.first_band(slab);
  }
  [[nodiscard]] TASKDAG_HD bool is_one(const Pencils<Points>& pencils) const {
    return slab < pencils.slabs() && band >= pencils.first_band(slab) && band <= pencils.last_band(slab);
  }
  /// Whether there is a pencil in the band before, in the one after it, in the slab below, in the one above.
  [[nodiscard]] TASKDAG_HD bool has_before(const Pencils<Points>& pencils) const {
    return band > pencils.first_band(slab);
  }
  [[nodiscard]] TASKDAG_HD bool has_after(const Pencils<Points>& pencils) const {
    return band < pencils.last_band(slab);
  }
  [[nodiscard]] TASKDAG_HD bool has_below(const Pencils<Points>& pencils) const {
    return slab > 0 && band <= pencils.last_band(slab - 1);
  }
  [[nodiscard]] TASKDAG_HD bool has_above(const Pencils<Points>& pencils) const {
    return slab + 1 < pencils.slabs() && band >= pencils.first_band(slab + 1);
  }
  /// Of lane 0 in a plane of the grid; no line of that plane where it is negative or too large.
  [[nodiscard]] TASKDAG_HD Index first_line(Index plane) const {
    return band * Pencils<Points>::kLines - Points::kPassing - Points::kShear * plane;
  }
};

/// Pencils of some slabs of a band, one above the other, which a cluster of blocks takes with one ticket. Tickets count
/// band by band of these slabs.
template <class Points>
struct PencilTickets {
  Pencils<Points> pencils;
  int blocks;  ///< of a cluster

  [[nodiscard]] TASKDAG_HD Index first_slab(Index ticket) const { return ticket / in_slabs() * blocks; }
  [[nodiscard]] TASKDAG_HD Index band(Index ticket) const {
    return pencils.first_band(first_slab(ticket)) + ticket % in_slabs();
  }
  [[nodiscard]] TASKDAG_HD Index count() const { return (pencils.slabs() + blocks - 1) / blocks * in_slabs(); }
  [[nodiscard]] TASKDAG_HD bool has_pencils(Index ticket) const {
    return band(ticket) <= pencils.last_band(end_slab(ticket) - 1);
  }
  /// The last slab that has one of its pencils.
  [[nodiscard]] TASKDAG_HD Index last_slab(Index ticket) const {
    Index slab = end_slab(ticket) - 1;
    while (slab > first_slab(ticket) && pencils.first_band(slab) > band(ticket)) --slab;
    return slab;
  }

 private:
  [[nodiscard]] TASKDAG_HD Index end_slab(Index ticket) const {
    const Index end = first_slab(ticket) + blocks;
    return end < pencils.slabs() ? end : pencils.slabs();
  }
  [[nodiscard]] TASKDAG_HD Index in_slabs() const { return pencils.in_slabs(blocks); }
};

}  // namespace taskdag::kernels::cells
