/// \file
/// How many warps of a kernel that waits for operands are in flight.
#pragma once

#include "kernels/sptrsv/analysis/warp_tasks.hpp"

namespace taskdag::kernels {

/// How many warps a self-scheduled kernel keeps in flight: enough for some average levels, so that rows are fetched
/// before they are needed, and no more, because each waiting warp polls the L2 cache. Rows with several lanes have more
/// operands to poll and are fetched more slowly apart. Values measured on an H200, see docs/notes/flat.md.
struct SolveTuning {
  int lookahead_levels = 16;            ///< where rows have one lane
  int lookahead_levels_many_lanes = 8;  ///< where they have more on average
  int warps_per_multiprocessor = 4;     ///< at least so many
  int gate_pause_ns = 20;               ///< pause between two looks at the gate of a row
  /// With more, launches do not overlap: the kernel that can is a little slower row by row.
  int most_overlapping_levels = 16;
  /// Of two levels: with more in the first one operands are not computed by the tasks that need them, since a
  /// right-hand side and a pivot from anywhere take longer to fetch than a slot.
  int most_tasks_of_operands = 128;
  int wide_tasks_per_multiprocessor = 4;  ///< a level of at least so many is a launch of its own, without waits
};

/// Blocks of `block` threads for a persistent kernel over these tasks, on the current device.
int persistent_blocks(const TaskList& tasks, const SolveTuning& tuning, int block);

}  // namespace taskdag::kernels
