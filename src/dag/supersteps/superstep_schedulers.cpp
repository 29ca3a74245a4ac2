#include "dag/supersteps/superstep_schedulers.hpp"

#include <algorithm>
#include <numeric>

#include "dag/supersteps/barrier_schedulers.hpp"
#include "dag/supersteps/coarsening.hpp"
#include "dag/supersteps/expected_time.hpp"
#include "dag/supersteps/funnel.hpp"
#include "dag/supersteps/neighbours.hpp"
#include "dag/supersteps/runs.hpp"
#include "dag/task_graph.hpp"
#include "dag/transitive_reduction.hpp"
#include "taskdag/error.hpp"

namespace taskdag {

namespace {

/// A group should be small beside what a core has to do, and cost no more than a barrier: cores wait for whole groups.
Offset choose_group_weight(const TaskGraph& graph, int cores) {
  constexpr std::int64_t kGroupsPerCore = 256;
  constexpr std::int64_t kMost = 512;
  const std::int64_t total = std::accumulate(graph.weight.begin(), graph.weight.end(), std::int64_t{0});
  return static_cast<Offset>(std::clamp<std::int64_t>(total / (kGroupsPerCore * cores), 1, kMost));
}

/// Schedules the graph or, if it is to be coarsened, its funnels of that kind.
Assignment schedule(TaskGraph graph, const SuperstepOptions& options, Funnel kind, Offset most,
                    const Scheduler& scheduler) {
  if (!options.coarsen) return scheduler(graph);
  if (options.reduction) remove_long_edges(graph, *options.reduction);
  graph.link_children();
  const Partition partition = find_funnels(graph, kind, most);
  graph = coarsen(graph, partition);
  return pull_back(scheduler(graph), partition);
}

/// schedule() of the graph, or of runs of its tasks where that is expected to take less time.
Assignment schedule_runs(const TaskGraph& graph, const SuperstepOptions& options, Funnel kind, Offset most, int cores,
                         const Scheduler& scheduler) {
  Assignment best = schedule(graph, options, kind, most, scheduler);
  std::int64_t least = expected_time(graph, best, cores);
  for (const Index length : {4, 16, 64}) {
    const Partition runs = find_runs(graph, length);
    Assignment other = pull_back(schedule(coarsen(graph, runs), options, kind, most, scheduler), runs);
    const std::int64_t time = expected_time(graph, other, cores);
    if (time >= least) continue;
    best = std::move(other);
    least = time;
  }
  return best;
}

}  // namespace

SuperstepSchedule make_superstep_schedule(const Scheduler& scheduler, Funnel kind, const CsrPattern& pattern,
                                          Triangle triangle, int cores, const SuperstepOptions& options) {
  if (cores < 1) throw InvalidInput("a schedule needs one core at least");
  if (!(options.idle_share > 0.0 && options.idle_share <= 1.0)) {
    throw InvalidInput("the share of idle cores is not in (0, 1]");
  }
  if (!(options.imbalance >= 0.0 && options.imbalance < 1.0)) throw InvalidInput("the imbalance is not in [0, 1)");
  if (options.group_weight < 0) throw InvalidInput("the weight of a group is negative");

  TaskGraph graph = make_task_graph(pattern, triangle);
  const Offset most = options.group_weight > 0 ? options.group_weight : choose_group_weight(graph, cores);
  Assignment assignment = options.try_runs ? schedule_runs(graph, options, kind, most, cores, scheduler)
                                           : schedule(std::move(graph), options, kind, most, scheduler);
  if (options.gather) gather_neighbours(make_task_graph(pattern, triangle), cores, assignment);
  return make_superstep_schedule(triangle, cores, assignment);
}

SuperstepSchedule make_locking_schedule(const CsrPattern& pattern, Triangle triangle, int cores,
                                        const SuperstepOptions& options) {
  const auto scheduler = [&](TaskGraph& graph) {
    graph.link_children();
    return schedule_locking(graph, cores, {options.idle_share, options.fill_up});
  };
  return make_superstep_schedule(scheduler, Funnel::in, pattern, triangle, cores, options);
}

}  // namespace taskdag
