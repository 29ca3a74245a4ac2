/// \file
/// What a schedule's portions wait for where there are no barriers.
#pragma once

#include <span>
#include <vector>

#include "dag/supersteps/superstep_schedule.hpp"

namespace taskdag {

/// Until `core` has finished its portion of `superstep`, and so all its earlier ones.
struct PortionWait {
  Index core;
  Index superstep;
};

/// Plain arrays beside those of a SuperstepSchedule: portion k waits for waits[offsets[k] … offsets[k + 1]).
struct PortionWaits {
  std::vector<Offset> offsets{0};
  std::vector<PortionWait> waits;

  [[nodiscard]] std::span<const PortionWait> of(std::size_t portion) const {
    return std::span(waits).subspan(static_cast<std::size_t>(offsets[portion]),
                                    static_cast<std::size_t>(offsets[portion + 1] - offsets[portion]));
  }
};

/// The waits that replace the barriers of a valid schedule. Left out is what is known without them: what an earlier
/// portion of the same core needed, and what another portion that is needed has needed itself (long edges of
/// triangles). Source: Park et al. 2014, sections 2.2 and 2.3. Cost: entries + Σ over the portions of (cores that a
/// portion needs)².
PortionWaits find_portion_waits(const SuperstepSchedule& schedule, const CsrPattern& pattern, Triangle triangle);

}  // namespace taskdag
