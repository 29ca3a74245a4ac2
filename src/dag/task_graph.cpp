#include "dag/task_graph.hpp"

#include <algorithm>
#include <numeric>

#include "dag/dependencies.hpp"

namespace taskdag {

void TaskGraph::link_children() {
  child_offsets.assign(parent_offsets.size(), 0);
  children.resize(parents.size());
  for (const Index parent : parents) ++child_offsets[static_cast<std::size_t>(parent) + 1];
  std::partial_sum(child_offsets.begin(), child_offsets.end(), child_offsets.begin());
  std::vector<Offset> next(child_offsets.begin(), child_offsets.end() - 1);
  for (Index task = 0; task < size(); ++task) {
    for (const Index parent : parents_of(task)) {
      children[static_cast<std::size_t>(next[static_cast<std::size_t>(parent)]++)] = task;
    }
  }
}

TaskGraph make_task_graph(const CsrPattern& pattern, Triangle triangle) {
  TaskGraph graph;
  const Index n = pattern.rows;
  graph.parent_offsets.reserve(static_cast<std::size_t>(n) + 1);
  graph.weight.reserve(static_cast<std::size_t>(n));
  graph.parents.reserve(static_cast<std::size_t>(pattern.entries()) / 2 + 1);
  for (Index step = 0; step < n; ++step) {
    const auto columns = dependencies(pattern, triangle, row_of_step(triangle, n, step));
    if (triangle == Triangle::lower) {
      graph.parents.insert(graph.parents.end(), columns.begin(), columns.end());
    } else {
      for (auto column = columns.rbegin(); column != columns.rend(); ++column) {
        graph.parents.push_back(n - 1 - *column);
      }
    }
    graph.parent_offsets.push_back(static_cast<Offset>(graph.parents.size()));
    graph.weight.push_back(static_cast<Offset>(columns.size()) + 1);
  }
  return graph;
}

std::vector<Index> compute_levels(const TaskGraph& graph) {
  std::vector<Index> level(static_cast<std::size_t>(graph.size()));
  for (Index task = 0; task < graph.size(); ++task) {
    Index deepest = -1;
    for (const Index parent : graph.parents_of(task)) {
      deepest = std::max(deepest, level[static_cast<std::size_t>(parent)]);
    }
    level[static_cast<std::size_t>(task)] = deepest + 1;
  }
  return level;
}

}  // namespace taskdag
