/// \file
/// Schedulers that go by levels.
#pragma once

#include "dag/supersteps/assignment.hpp"
#include "dag/task_graph.hpp"

namespace taskdag {

/// A superstep per level; each core takes one run of its tasks, of about the same weight.
/// Source: Anderson & Saad 1989. @pre cores >= 1
Assignment schedule_level_set(const TaskGraph& graph, int cores);

/// Glues consecutive levels to one superstep as long as the connected components of what they hold can be dealt to the
/// cores with mean load >= (1 − imbalance) · largest load; a level that cannot be glued is cut as in a level set.
/// Source: in the manner of Zarebavani et al. 2022 (HDagg), section IV, without its code. @pre cores >= 1
Assignment schedule_glued_levels(const TaskGraph& graph, int cores, double imbalance);

}  // namespace taskdag
