/// \file
/// What a schedule is expected to take.
#pragma once

#include <cstdint>

#include "dag/assignment.hpp"
#include "dag/task_graph.hpp"
#include "dag/thread_plan.hpp"

namespace taskdag {

/// Time of a solve on host threads with a barrier between supersteps, in units of PlanCosts: the sum over the
/// supersteps of the longest cell and a barrier, which is a hop in each of ⌈log2 cores⌉ rounds. `graph`: of rows, not
/// of groups.
std::int64_t expected_time(const TaskGraph& graph, const Assignment& assignment, int cores,
                           const PlanCosts& costs = {});

}  // namespace taskdag
