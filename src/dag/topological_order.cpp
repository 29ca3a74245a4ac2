#include "dag/topological_order.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <span>
#include <string>

#include "base/index.hpp"
#include "taskdag/error.hpp"

namespace taskdag {

namespace {

std::string name_of(Index task) { return "task " + std::to_string(task); }

std::span<const Index> parents_in(const CsrPattern& edges, Index task) {
  return {edges.col_indices + edges.row_offsets[task], edges.col_indices + edges.row_offsets[task + 1]};
}

void check(const CsrPattern& edges) {
  if (edges.rows < 0 || edges.rows != edges.cols) {
    throw InvalidInput("the edges of a graph are a square pattern, not one of " + std::to_string(edges.rows) + " by " +
                       std::to_string(edges.cols));
  }
  if (edges.rows == 0) return;
  if (edges.row_offsets[0] != 0) throw InvalidInput("the edges of a graph begin at offset 0");
  for (Index task = 0; task < edges.rows; ++task) {
    if (edges.row_offsets[task + 1] < edges.row_offsets[task]) {
      throw InvalidInput("the offsets of a graph's edges do not ascend at " + name_of(task));
    }
  }
  for (Index task = 0; task < edges.rows; ++task) {
    for (const Index parent : parents_in(edges, task)) {
      if (parent >= 0 && parent < edges.rows) continue;
      throw InvalidInput(name_of(task) + " of a graph waits for " + name_of(parent) + ", and there are " +
                         std::to_string(edges.rows) + " tasks");
    }
  }
}

/// missing: of each task; those with none left have been ordered. Every other one waits for another such one, so going
/// on from parent to parent comes back to a task.
[[noreturn]] void refuse_cycle(const CsrPattern& edges, const std::vector<Offset>& missing) {
  constexpr Index kMostNamed = 8;
  const auto in_cycle = [&](Index parent) { return missing[at(parent)] > 0; };
  const auto next = [&](Index task) {
    const auto parents = parents_in(edges, task);
    return *std::find_if(parents.begin(), parents.end(), in_cycle);
  };
  std::vector<char> seen(missing.size(), 0);
  auto task = static_cast<Index>(std::find_if(missing.begin(), missing.end(), [](Offset m) { return m > 0; }) -
                                 missing.begin());
  for (; seen[at(task)] == 0; task = next(task)) seen[at(task)] = 1;
  const Index first = task;
  std::string words = "the graph has a cycle: " + name_of(first);
  Index named = 0;
  do {
    task = next(task);
    if (named++ < kMostNamed) words += " waits for " + name_of(task) + (task == first ? "" : ", which");
  } while (task != first);
  if (named > kMostNamed) words += " waits for " + std::to_string(named - kMostNamed) + " more until the first one";
  throw InvalidInput(words);
}

}  // namespace

OrderedGraph order_topologically(const CsrPattern& edges) {
  check(edges);
  const std::size_t tasks = at(edges.rows);
  const auto entries = static_cast<std::size_t>(edges.entries());
  std::vector<Offset> missing(tasks, 0);
  std::vector<Offset> first_child(tasks + 1, 0);
  for (Index task = 0; task < edges.rows; ++task) {
    missing[at(task)] = edges.row_offsets[task + 1] - edges.row_offsets[task];
    for (const Index parent : parents_in(edges, task)) ++first_child[at(parent) + 1];
  }
  for (std::size_t t = 0; t < tasks; ++t) first_child[t + 1] += first_child[t];
  std::vector<Index> child(entries);
  std::vector<Offset> next_child(first_child.begin(), first_child.end() - 1);
  for (Index task = 0; task < edges.rows; ++task) {
    for (const Index parent : parents_in(edges, task)) child[at(next_child[at(parent)]++)] = task;
  }

  std::priority_queue<Index, std::vector<Index>, std::greater<>> ready;
  for (Index task = 0; task < edges.rows; ++task) {
    if (missing[at(task)] == 0) ready.push(task);
  }
  OrderedGraph result;
  result.given.reserve(tasks);
  std::vector<Index> number(tasks);
  while (!ready.empty()) {
    const Index task = ready.top();
    ready.pop();
    number[at(task)] = static_cast<Index>(result.given.size());
    result.given.push_back(task);
    for (Offset k = first_child[at(task)]; k < first_child[at(task) + 1]; ++k) {
      if (--missing[at(child[at(k)])] == 0) ready.push(child[at(k)]);
    }
  }
  if (result.given.size() != tasks) refuse_cycle(edges, missing);

  TaskGraph& graph = result.graph;
  graph.parents.reserve(entries);
  graph.parent_offsets.reserve(tasks + 1);
  graph.weight.reserve(tasks);
  for (const Index task : result.given) {
    const auto first = static_cast<std::ptrdiff_t>(graph.parents.size());
    for (const Index parent : parents_in(edges, task)) graph.parents.push_back(number[at(parent)]);
    std::sort(graph.parents.begin() + first, graph.parents.end());
    graph.parents.erase(std::unique(graph.parents.begin() + first, graph.parents.end()), graph.parents.end());
    graph.parent_offsets.push_back(static_cast<Offset>(graph.parents.size()));
    graph.weight.push_back(graph.parent_offsets.back() - static_cast<Offset>(first) + 1);
  }
  return result;
}

}  // namespace taskdag
