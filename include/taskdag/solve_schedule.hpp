/// \file
/// The named schedules of a triangular solve.
#pragma once

#include <span>
#include <string>

#include "taskdag/context.hpp"
#include "taskdag/export.hpp"

namespace taskdag {

/// How the rows of a triangular solve are grouped, ordered and waited for. The result is the same triangular solve;
/// sums of a row may be added in another order. supernodes and joined_levels rewrite rows: their rounding errors grow
/// with the condition of what they rewrite, and automatic may choose them (name flat or cells where each row must hold
/// to rounding). docs/schedules.md describes each.
enum class SolveSchedule {
  automatic,  ///< chosen from the pattern
  // CUDA
  flat,             ///< warp tasks in level order, each waits for its operands' values
  cells,            ///< runs of consecutive rows or tiles of a grid, one thread block each, by static steps
  supernodes,       ///< diagonal blocks of supernodes inverted, what is left by another of these
  joined_levels,    ///< operands of every second level replaced, so that two run at once; what is left by another
  level_launch,     ///< a kernel launch per level (baseline of ATA)
  level_graph,      ///< the same launches as a CUDA graph
  level_barrier,    ///< one kernel, a grid-wide barrier per level
  self_scheduled,   ///< rows in natural order, each waits for its operands (baseline of ATA)
  ata_concurrency,  ///< Helal et al. 2019: concurrency-aware aggregation
  ata_locality,     ///< … locality-aware aggregation
  ata_greedy,       ///< … greedy aggregation
  cusparse,         ///< NVIDIA's SpSV, loaded when first asked for
  // both
  blocks,        ///< blocks of one colour at once; needs an ordering that makes blocks (RowBlocks)
  locking,       ///< Böhnlein et al. 2025: Funnel coarsening and the Locking scheduler
  pivotal_path,  ///< … Funnel coarsening and the p-ivotal path scheduler
  hdagg,         ///< levels glued while balanced (in the manner of Zarebavani et al. 2022)
  // host threads
  plan,            ///< runs of consecutive rows per thread, one progress counter each
  point_to_point,  ///< levels without barriers, sparsified waits (in the manner of Park et al. 2014)
  level_set,       ///< a barrier per level
  serial,          ///< one thread, natural order
};

/// "auto", "flat", "cells", "level-launch", …: the names that options take.
TASKDAG_API const char* to_string(SolveSchedule schedule);

/// The schedule of that name. @throws InvalidInput with the list of names
TASKDAG_API SolveSchedule solve_schedule_from(const std::string& name);

/// The schedules that a backend can run on any triangle, automatic first; all there are for Backend::automatic.
/// `blocks` is none of them, since it needs an ordering that makes blocks: FactorOptions::blocks.
TASKDAG_API std::span<const SolveSchedule> solve_schedules(Backend backend);

}  // namespace taskdag
