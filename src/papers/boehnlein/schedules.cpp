/// \file
/// Superstep schedules by name.
#include "papers/boehnlein/schedules.hpp"

#include "papers/boehnlein/level_schedulers.hpp"
#include "papers/boehnlein/path_scheduler.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

SuperstepSchedule by_pivotal_path(const CsrPattern& pattern, Triangle triangle, int cores,
                                  const SuperstepOptions& options) {
  const auto scheduler = [&](TaskGraph& graph) {
    graph.link_children();
    return schedule_pivotal_path(graph, cores, {options.idle_share, options.fill_up});
  };
  return make_superstep_schedule(scheduler, Funnel::in, pattern, triangle, cores, options);
}

SuperstepSchedule by_glued_levels(const CsrPattern& pattern, Triangle triangle, int cores, SuperstepOptions options) {
  options.try_runs = false;
  const auto scheduler = [&](const TaskGraph& graph) { return schedule_glued_levels(graph, cores, options.imbalance); };
  return make_superstep_schedule(scheduler, Funnel::tree, pattern, triangle, cores, options);
}

SuperstepSchedule by_level_sets(const CsrPattern& pattern, Triangle triangle, int cores, SuperstepOptions options) {
  options.try_runs = options.coarsen = options.gather = false;
  const auto scheduler = [&](const TaskGraph& graph) { return schedule_level_set(graph, cores); };
  return make_superstep_schedule(scheduler, Funnel::in, pattern, triangle, cores, options);
}

}  // namespace

SuperstepSchedule make_superstep_schedule(SolveSchedule kind, const CsrPattern& pattern, Triangle triangle, int cores,
                                          const SuperstepOptions& options) {
  switch (kind) {
    case SolveSchedule::locking:
      return make_locking_schedule(pattern, triangle, cores, options);
    case SolveSchedule::pivotal_path:
      return by_pivotal_path(pattern, triangle, cores, options);
    case SolveSchedule::hdagg:
      return by_glued_levels(pattern, triangle, cores, options);
    case SolveSchedule::level_set:
    case SolveSchedule::point_to_point:
      return by_level_sets(pattern, triangle, cores, options);
    default:
      throw InvalidInput("this schedule is not made of supersteps");
  }
}

}  // namespace taskdag
