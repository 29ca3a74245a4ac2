/// \file
/// Funnels: groups of tasks that can be taken for one without making a cycle.
#pragma once

#include "dag/supersteps/coarsening.hpp"

namespace taskdag {

/// A cascade is a group in which each task that waits for something outside leads to each task that something outside
/// waits for; taking cascades for single tasks keeps a graph free of cycles.
enum class Funnel {
  in,    ///< at most one task of the group has children outside
  out,   ///< at most one task of the group has parents outside
  tree,  ///< an in-funnel in which every task but one has a single child (the subtrees of Zarebavani et al. 2022)
};

/// Groups the tasks in funnels, as large as possible up to a weight of `most` (a task that is heavier is alone).
///
/// In-funnels: tasks in reverse topological order; one whose children all lie in one group joins it, which is what
/// the depth-first search of the source finds, too. Out-funnels mirror that. Cost: tasks + edges.
/// Source: Böhnlein et al. 2025, section 4 (algorithm 4.1); Cong, Li & Bagrodia 1994. @pre most >= 1; children are
/// linked
Partition find_funnels(const TaskGraph& graph, Funnel kind, Offset most);

}  // namespace taskdag
