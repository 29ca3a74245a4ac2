#include "dag/supersteps/neighbours.hpp"

#include <cstdint>
#include <numeric>
#include <vector>

#include "base/index.hpp"

namespace taskdag {

namespace {

/// The first task of the component of each task, where edges between supersteps do not count.
std::vector<Index> find_components(const TaskGraph& graph, const Assignment& assignment) {
  std::vector<Index> first(at(graph.size()));
  std::iota(first.begin(), first.end(), 0);
  const auto root_of = [&](Index task) {
    while (first[at(task)] != task) {
      first[at(task)] = first[at(first[at(task)])];
      task = first[at(task)];
    }
    return task;
  };
  for (Index task = 0; task < graph.size(); ++task) {
    for (const Index parent : graph.parents_of(task)) {
      if (assignment.superstep[at(parent)] != assignment.superstep[at(task)]) continue;
      const Index one = root_of(parent);
      const Index other = root_of(task);
      first[at(std::max(one, other))] = std::min(one, other);
    }
  }
  for (Index task = 0; task < graph.size(); ++task) first[at(task)] = first[at(first[at(task)])];
  return first;
}

}  // namespace

void gather_neighbours(const TaskGraph& graph, int cores, Assignment& assignment) {
  constexpr std::int64_t kLightShare = 16;
  const std::vector<Index> component = find_components(graph, assignment);
  std::vector<std::int64_t> weight(at(graph.size()), 0);  // of the components, by first task
  std::vector<std::int64_t> total(at(assignment.supersteps), 0);
  for (Index task = 0; task < graph.size(); ++task) {
    weight[at(component[at(task)])] += graph.weight[at(task)];
    total[at(assignment.superstep[at(task)])] += graph.weight[at(task)];
  }
  const auto is_light = [&](Index first) {
    return weight[at(first)] * kLightShare * cores < total[at(assignment.superstep[at(first)])];
  };

  // until[superstep · cores + core]: light load of the superstep's cores up to this one.
  std::vector<std::int64_t> until(at(assignment.supersteps) * static_cast<std::size_t>(cores), 0);
  const auto portion = [&](Index superstep, Index core) {
    return at(superstep) * static_cast<std::size_t>(cores) + at(core);
  };
  for (Index task = 0; task < graph.size(); ++task) {
    if (component[at(task)] == task && is_light(task)) {
      until[portion(assignment.superstep[at(task)], assignment.core[at(task)])] += weight[at(task)];
    }
  }
  for (Index s = 0; s < assignment.supersteps; ++s) {
    for (Index c = 1; c < cores; ++c) until[portion(s, c)] += until[portion(s, c - 1)];
  }

  std::vector<std::int64_t> dealt(at(assignment.supersteps), 0);
  std::vector<Index> next(at(assignment.supersteps), 0);  // the core whose turn it is
  for (Index task = 0; task < graph.size(); ++task) {
    const Index first = component[at(task)];
    if (first != task) {
      assignment.core[at(task)] = assignment.core[at(first)];
    } else if (is_light(task)) {
      const auto s = assignment.superstep[at(task)];
      Index& core = next[at(s)];
      while (core + 1 < cores && 2 * dealt[at(s)] + weight[at(task)] > 2 * until[portion(s, core)]) ++core;
      dealt[at(s)] += weight[at(task)];
      assignment.core[at(task)] = core;
    }
  }
}

}  // namespace taskdag
