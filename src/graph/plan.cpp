// Plans: a graph of any tasks as a triangle, what schedules make of that, and its portions as a static program.
#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <string>

#include "base/index.hpp"
#include "base/memory_errors.hpp"
#include "dag/supersteps/coarsening.hpp"
#include "dag/supersteps/superstep_schedulers.hpp"
#include "dag/task_graph.hpp"
#include "dag/topological_order.hpp"
#include "dag/transitive_reduction.hpp"
#include "graph/device.hpp"
#include "taskdag/error.hpp"
#include "taskdag/graph_plan.hpp"

namespace taskdag::engine {

namespace {

constexpr std::array<const char*, 6> kWays{"auto", "launches", "barriers", "waits", "lists", "counters"};
constexpr int kCoresOfMultiprocessor = 4;

/// The tasks in the order in which portions run, and where each portion begins.
struct Portions {
  std::vector<Index> task;
  std::vector<Index> begin;
};

int cores_of(const Context& context, const GraphOptions& options) {
  if (options.cores < 0) throw InvalidInput("the number of cores that a graph's lists are made for is negative");
  if (options.cores > 0) return options.cores;
  return context.backend() == Backend::host ? context.threads() : kCoresOfMultiprocessor * multiprocessors(context);
}

/// A topologically numbered graph is a strict lower triangle, which schedules are made of.
CsrPattern triangle_of(const TaskGraph& graph) {
  return {graph.size(), graph.size(), graph.parent_offsets.data(), graph.parents.data()};
}

/// The portions that are not empty, superstep by superstep.
Portions make_lists(const TaskGraph& graph, int cores) {
  SuperstepSchedule schedule = make_locking_schedule(triangle_of(graph), Triangle::lower, cores, {.gather = true});
  Portions lists{std::move(schedule.order), std::move(schedule.offsets)};
  lists.begin.erase(std::unique(lists.begin.begin(), lists.begin.end()), lists.begin.end());
  return lists;
}

/// Each task for itself, level by level.
Portions make_singles(const Schedule& levels) {
  Portions singles{{levels.order().begin(), levels.order().end()}, std::vector<Index>(at(levels.rows()) + 1)};
  std::iota(singles.begin.begin(), singles.begin.end(), 0);
  return singles;
}

TaskGraph graph_of_portions(const TaskGraph& graph, const Portions& portions) {
  Partition partition{static_cast<Index>(portions.begin.size()) - 1, std::vector<Index>(portions.task.size())};
  for (Index g = 0; g < partition.groups; ++g) {
    for (Index k = portions.begin[at(g)]; k < portions.begin[at(g) + 1]; ++k)
      partition.group[at(portions.task[at(k)])] = g;
  }
  return coarsen(graph, partition);
}

GraphPlan make_plan(const Context& context, const CsrPattern& edges, const GraphOptions& options) {
  GraphPlan plan;
  plan.way = options.way;
  if (plan.way == GraphWay::automatic) {
    plan.way = context.backend() == Backend::host ? GraphWay::lists : GraphWay::waits;
  }
  const int cores = cores_of(context, options);
  const OrderedGraph ordered = order_topologically(edges);
  const Schedule levels = make_level_schedule(triangle_of(ordered.graph), Triangle::lower);
  plan.levels = levels.levels();

  const bool lists = plan.way == GraphWay::lists;
  const Portions portions = lists ? make_lists(ordered.graph, cores) : make_singles(levels);
  TaskGraph graph = graph_of_portions(ordered.graph, portions);
  // Levels are those of all edges, and of those that remain.
  remove_long_edges(graph);

  StaticOrderBuilder builder;
  builder.begin_type();
  const bool waits = lists || plan.way == GraphWay::waits;
  if (waits) plan.wait_begin.push_back(0);
  std::vector<std::uint32_t> parents;
  for (Index g = 0; g < graph.size(); ++g) {
    const auto all = graph.parents_of(g);
    parents.assign(all.begin(), all.end());
    builder.add_task(parents);
    if (!waits) continue;
    plan.wait.insert(plan.wait.end(), parents.begin(), parents.end());
    plan.wait_begin.push_back(static_cast<std::uint32_t>(plan.wait.size()));
  }
  plan.order = builder.order(plan.way == GraphWay::counters ? Dependencies::individual : Dependencies::ordered);
  if (lists) plan.begin.assign(portions.begin.begin(), portions.begin.end());
  plan.task.reserve(portions.task.size());
  for (const Index task : portions.task) plan.task.push_back(ordered.given[at(task)]);
  return plan;
}

}  // namespace

const char* to_string(GraphWay way) { return kWays.at(static_cast<std::size_t>(way)); }

GraphWay graph_way_from(std::string_view name) {
  const auto* const found = std::ranges::find(kWays, name);
  if (found != kWays.end()) return static_cast<GraphWay>(found - kWays.begin());
  throw InvalidInput("no way of running a graph is named \"" + std::string(name) +
                     "\"; there are auto, launches, barriers, waits, lists, counters");
}

GraphPlan make_graph_plan(const Context& context, const CsrPattern& edges, const GraphOptions& options) {
  return with_memory_errors("the plan of a graph", edges.rows, [&] { return make_plan(context, edges, options); });
}

}  // namespace taskdag::engine
