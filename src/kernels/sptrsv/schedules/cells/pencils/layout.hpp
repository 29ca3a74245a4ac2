/// \file
/// How pencils lie in memory: what loading values and solving share.
///
/// A plane of a pencil has a runner: at its step t lane l computes column t − l of its line. Lane 0 has no line: it
/// passes on the results of the last line of the pencil before. A step has three values a lane, those of the row
/// before, of the row a line before and of the row a plane before, negated and scaled by the row's inverse pivot: the
/// first two as a pair, the third behind all pairs. Where a lane has no column, or a row no such entry, values are 0;
/// but the third one of lane 0 is 1, since what it passes on comes where other lanes have the row a plane before.
#pragma once

#include <cstddef>

#include "kernels/sptrsv/schedules/cells/cut/pencils.hpp"

namespace taskdag::kernels::cells {

inline constexpr int kPlaneStepBytes = kLanes * 3 * 8;  ///< of the entries of a step of a plane
inline constexpr int kPlaneThirds = kLanes * 2 * 8;     ///< where its third values begin
inline constexpr int kPencilStepBytes = kPencilPlanes * kPlaneStepBytes;
inline constexpr int kPencilGroup = 8;  ///< steps that are loaded at once
inline constexpr int kPencilGroupBytes = kPencilGroup * kPencilStepBytes;
inline constexpr int kPencilChunk = 16;  ///< steps that are fed and stored at once

/// Steps of a pencil.
TASKDAG_HD Index steps_of(const Pencils& pencils) {
  return (pencils.columns + kPencilLines + kPencilChunk - 1) / kPencilChunk * kPencilChunk;
}

/// Where a pencil lies in the grid.
struct PencilPlace {
  Index slab;
  Index band;  ///< of the slab
  TASKDAG_HD PencilPlace(const Pencils& pencils, Index pencil)
      : slab(pencil / pencils.in_slab()), band(pencil % pencils.in_slab()) {}
};

}  // namespace taskdag::kernels::cells
