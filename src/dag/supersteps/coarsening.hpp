/// \file
/// Coarser task graphs.
#pragma once

#include <vector>

#include "dag/task_graph.hpp"

namespace taskdag {

/// Disjoint groups of tasks that together are all of them. Groups are numbered so that between two groups edges go from
/// the smaller number to the larger one only: the groups form a graph without cycles, and it is numbered topologically.
struct Partition {
  Index groups = 0;
  std::vector<Index> group;  ///< of each task
};

/// The graph of the groups: their weights are the sums of the tasks' weights, an edge stands for all edges between two
/// groups. Children are neither needed nor made. Source: Böhnlein et al. 2025, definition 4.1. Cost: edges, and sorting
/// each group's parents.
TaskGraph coarsen(const TaskGraph& graph, const Partition& partition);

}  // namespace taskdag
