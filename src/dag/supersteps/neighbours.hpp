/// \file
/// Neighbouring rows on one core.
#pragma once

#include "dag/supersteps/assignment.hpp"
#include "dag/task_graph.hpp"

namespace taskdag {

/// Deals out the light tasks of every superstep anew, so that each core gets tasks with numbers near each other: a list
/// scheduler deals ready tasks one by one, and then all cores write and read the same lines of memory.
///
/// What is dealt out are the components of each superstep's part of the graph, those with less than a 16th of a core's
/// mean load; the others stay. Each core keeps its load to within half of such a component. Supersteps stay, so the
/// assignment remains valid. Cost: tasks + edges.
void gather_neighbours(const TaskGraph& graph, int cores, Assignment& assignment);

}  // namespace taskdag
