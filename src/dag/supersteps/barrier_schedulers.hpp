/// \file
/// The barrier list scheduler Locking. Children must be linked.
#pragma once

#include "dag/supersteps/assignment.hpp"
#include "dag/task_graph.hpp"

namespace taskdag {

/// When a superstep ends.
struct SuperstepEnd {
  double idle_share = 0.3;  ///< α: share of idle cores, in (0, 1]
  bool fill_up = true;      ///< once it is to end, cores that become idle take what ends no later than what runs
};

/// Priority: as few tasks as possible are locked out of the superstep. A task is locked by a core once one of its
/// parents has begun there in this superstep; running another parent elsewhere would lock it out. A ready task's
/// priority for a core is its heaviest path, normalised to [0, 20], less the number of children that it would lock
/// out there. `end`: see BarrierList. Source: Böhnlein et al. 2025, section 3.
/// @pre cores >= 1, 0 < end.idle_share <= 1
///
/// Instead of a priority per core and task, each ready task has one number for all cores and a short list of the cores
/// that have locked children of it, for which it is better: memory is tasks + edges. Cost: each time a task is locked
/// or locked out, its ready parents change, of which a list is kept: at most Σ deg² · min(cores, deg) · log(tasks).
Assignment schedule_locking(const TaskGraph& graph, int cores, const SuperstepEnd& end);

}  // namespace taskdag
