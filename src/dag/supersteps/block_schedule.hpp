/// \file
/// Superstep schedules of blocks that an ordering has made independent.
#pragma once

#include "dag/supersteps/superstep_schedule.hpp"
#include "taskdag/row_blocks.hpp"

namespace taskdag {

/// A colour is a superstep: its blocks in as many runs of nearly equal numbers of rows as there are cores. Portions
/// hold whole blocks, so the schedule is valid if the blocks are.
/// @pre the offsets of `blocks` are as its contract says, cores >= 1
SuperstepSchedule make_block_schedule(const RowBlocks& blocks, Triangle triangle, int cores);

}  // namespace taskdag
