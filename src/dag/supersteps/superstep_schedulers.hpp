/// \file
/// From a triangle to a superstep schedule, whichever scheduler deals its tasks out.
#pragma once

#include <functional>
#include <optional>

#include "dag/supersteps/assignment.hpp"
#include "dag/supersteps/funnel.hpp"
#include "dag/supersteps/superstep_schedule.hpp"
#include "dag/task_graph.hpp"
#include "dag/transitive_reduction.hpp"

namespace taskdag {

/// What the schedulers can be told. The defaults are those of docs/papers/barrier-lists.md.
struct SuperstepOptions {
  double idle_share = 0.3;  ///< α of the barrier list schedulers: share of idle cores from which a superstep may end
  bool try_runs = false;    ///< also on runs of 4, 16 and 64 rows; the fastest one is taken
  bool fill_up = true;      ///< barrier list schedulers: idle cores take what ends before the superstep does
  bool coarsen = true;      ///< Funnel before the barrier list schedulers, subtrees before gluing
  bool gather = false;      ///< deal light tasks out anew, so that a portion's rows are neighbours (neighbours.hpp)
  std::optional<ReductionEffort> reduction = ReductionEffort{};  ///< before coarsening; nothing: no reduction
  Offset group_weight = 0;  ///< most entries in a group of rows; 0: chosen from the matrix and the number of cores
  double imbalance = 0.25;  ///< of glued levels: 1 − mean load / largest load
};

/// Deals the tasks of a graph out to cores and supersteps.
using Scheduler = std::function<Assignment(TaskGraph&)>;

/// Makes the schedule of a strict triangle on `cores` cores: groups its rows as funnels of that kind, or not, by the
/// options, and hands the groups to `scheduler`. One thread.
/// @pre the pattern is square and valid @throws InvalidInput for cores < 1, or options out of range
SuperstepSchedule make_superstep_schedule(const Scheduler& scheduler, Funnel kind, const CsrPattern& pattern,
                                          Triangle triangle, int cores, const SuperstepOptions& options);

/// The same with the scheduler Locking.
SuperstepSchedule make_locking_schedule(const CsrPattern& pattern, Triangle triangle, int cores,
                                        const SuperstepOptions& options = {});

}  // namespace taskdag
