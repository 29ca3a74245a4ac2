/// \file
/// What a schedule is expected to take.
#pragma once

#include <cstdint>

#include "dag/supersteps/assignment.hpp"
#include "dag/supersteps/superstep_schedule.hpp"
#include "dag/task_graph.hpp"
#include "dag/thread_plan.hpp"

namespace taskdag {

/// Time of a solve on host threads with a barrier between supersteps, in units of PlanCosts: the sum over the
/// supersteps of the longest portion and a barrier, which is a hop in each of ⌈log2 cores⌉ rounds. `graph`: of rows,
/// not of groups.
std::int64_t expected_time(const TaskGraph& graph, const Assignment& assignment, int cores,
                           const PlanCosts& costs = {});

/// The same of a schedule of that triangle. @pre the pattern is square and valid
std::int64_t expected_time(const SuperstepSchedule& schedule, const CsrPattern& pattern, Triangle triangle,
                           const PlanCosts& costs = {});

/// The same where portions wait for portions (PortionWaits): no portion begins later than a hop after the longest one
/// of the superstep before, so that is what a superstep costs instead of a barrier.
std::int64_t expected_time_with_waits(const SuperstepSchedule& schedule, const CsrPattern& pattern, Triangle triangle,
                                      const PlanCosts& costs = {});

/// Time of a solve by one thread in natural order.
std::int64_t expected_serial_time(const CsrPattern& pattern, Triangle triangle, const PlanCosts& costs = {});

}  // namespace taskdag
