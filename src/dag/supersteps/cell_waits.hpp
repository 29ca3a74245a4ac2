/// \file
/// What a schedule's cells wait for where there are no barriers.
#pragma once

#include <span>
#include <vector>

#include "dag/supersteps/superstep_schedule.hpp"

namespace taskdag {

/// Until `core` has finished its cell of `superstep`, and so all its earlier ones.
struct CellWait {
  Index core;
  Index superstep;
};

/// Plain arrays beside those of a SuperstepSchedule: cell k waits for waits[offsets[k] … offsets[k + 1]).
struct CellWaits {
  std::vector<Offset> offsets{0};
  std::vector<CellWait> waits;

  [[nodiscard]] std::span<const CellWait> of(std::size_t cell) const {
    return std::span(waits).subspan(static_cast<std::size_t>(offsets[cell]),
                                    static_cast<std::size_t>(offsets[cell + 1] - offsets[cell]));
  }
};

/// The waits that replace the barriers of a valid schedule. Left out is what is known without them: what an earlier
/// cell of the same core needed, and what another cell that is needed has needed itself (long edges of triangles).
/// Source: Park et al. 2014, sections 2.2 and 2.3. Cost: entries + Σ over the cells of (cores that a cell needs)².
CellWaits find_cell_waits(const SuperstepSchedule& schedule, const CsrPattern& pattern, Triangle triangle);

}  // namespace taskdag
