/// \file
/// The barrier list scheduler that goes by p-ivotal paths. Children must be linked.
#pragma once

#include "dag/supersteps/barrier_schedulers.hpp"

namespace taskdag {

/// Priority: the p-ivotal path score, fixed beforehand. Cost: tasks · log(tasks) + edges.
/// `end`: see BarrierList. Source: Böhnlein et al. 2025, section 3. @pre cores >= 1, 0 < end.idle_share <= 1
Assignment schedule_pivotal_path(const TaskGraph& graph, int cores, const SuperstepEnd& end);

}  // namespace taskdag
