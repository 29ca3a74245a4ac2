/// \file
/// Where Locking replaces a plan.
#pragma once

#include <optional>

#include "dag/supersteps/superstep_schedule.hpp"
#include "dag/thread_plan.hpp"

namespace taskdag {

/// Locking's schedule, gathered, to be run with waits, where it is expected to be faster than `plan` on as many cores.
///
/// It has rows in an order of its own and fewer hand-overs. So it is taken where the plan jumps from row to row too
/// (less than half of its rows follow the one before), unless it is expected to take a quarter longer; where the plan
/// has runs of rows, and its hand-overs cost it two thirds of the cores although less than two fifths of the
/// dependencies lead to another thread, if it is expected to take three quarters of the plan's time at most; where the
/// plan is one thread, the same; and where its hand-overs cost it five sixths of the cores, if it is expected to take a
/// third of the plan's time at most. All that is with barriers. Where the plan is one thread and the processor does not
/// foresee where its rows end, Locking is taken if it is expected to take no longer with waits.
///
/// It is not made elsewhere, nor where there are less than 4 cores or less than two rows per core in the mean level;
/// less than one row, where rows are not foreseen.
/// @pre the pattern is square and valid, and the plan is of its `triangle`
std::optional<SuperstepSchedule> find_faster_than_plan(const ThreadPlan& plan, const CsrPattern& pattern,
                                                       Triangle triangle, int cores);

}  // namespace taskdag
