/// \file
/// Fewer edges, the same order.
#pragma once

#include <cstdint>
#include <limits>

#include "dag/task_graph.hpp"

namespace taskdag {

/// When to stop looking for long edges: at the task where more than edge · (edges seen) + removed · (edges removed) +
/// base edges have been looked at. On meshes that does not happen; random graphs with many entries a row have few
/// triangles, and to look at Σ deg² edges for those takes longer than all the rest of a schedule.
struct ReductionEffort {
  std::int64_t edge = 16;
  std::int64_t removed = 64;
  std::int64_t base = 1 << 20;
};

/// No limit.
inline constexpr ReductionEffort kFullReduction{0, 0, std::numeric_limits<std::int64_t>::max()};

/// Removes edges u → w for which there is a task v with u → v → w: the long edges of triangles. What waits for what,
/// directly or not, stays the same. Cost: Σ deg² at most, and `effort`; a task is done where one edge remains.
/// Children are to be linked anew.
/// Source: Park et al. 2014, section 2.3; Böhnlein et al. 2025, section 4.2 (which name the early end, too).
void remove_long_edges(TaskGraph& graph, const ReductionEffort& effort = {});

}  // namespace taskdag
