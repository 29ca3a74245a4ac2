/// \file
/// Fewer edges, the same order.
#pragma once

#include "dag/task_graph.hpp"

namespace taskdag {

/// Removes every edge u → w for which there is a task v with u → v → w: the long edges of triangles. What waits for
/// what, directly or not, stays the same. Cost: Σ deg², with an early end where all edges of a task but one are gone.
/// Source: Park et al. 2014, section 2.3; Böhnlein et al. 2025, section 4.2.
void remove_long_edges(TaskGraph& graph);

}  // namespace taskdag
