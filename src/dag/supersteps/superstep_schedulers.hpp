/// \file
/// Schedules by name.
#pragma once

#include <optional>

#include "dag/supersteps/superstep_schedule.hpp"
#include "dag/transitive_reduction.hpp"
#include "taskdag/solve_schedule.hpp"

namespace taskdag {

/// What the schedulers can be told. The defaults are those of docs/papers/barrier-lists.md.
struct SuperstepOptions {
  double idle_share = 0.3;  ///< α of the barrier list schedulers: share of idle cores from which a superstep may end
  bool try_runs = false;    ///< barrier list schedulers: also on runs of 4, 16 and 64 rows; the fastest one is taken
  bool fill_up = true;      ///< barrier list schedulers: idle cores take what ends before the superstep does
  bool coarsen = true;      ///< Funnel before the barrier list schedulers, subtrees before gluing
  bool gather = false;  ///< deal light tasks out anew, so that the rows of a cell lie near each other (neighbours.hpp)
  std::optional<ReductionEffort> reduction = ReductionEffort{};  ///< before coarsening; nothing: no reduction
  Offset group_weight = 0;  ///< most entries in a group of rows; 0: chosen from the matrix and the number of cores
  double imbalance = 0.25;  ///< of glued levels: 1 − mean load / largest load
};

/// Makes the schedule of a strict triangle on `cores` cores. kind: locking, pivotal_path, hdagg, level_set, or
/// point_to_point (the cells of level_set; find_cell_waits() makes the waits). One thread.
/// @pre the pattern is square and valid @throws InvalidInput for another kind, or cores < 1, or options out of range
SuperstepSchedule make_superstep_schedule(SolveSchedule kind, const CsrPattern& pattern, Triangle triangle, int cores,
                                          const SuperstepOptions& options = {});

}  // namespace taskdag
