#include "studies/progression/dag.hpp"

#include <algorithm>
#include <utility>

#include "taskdag/error.hpp"

namespace taskdag::progression {
namespace {

/// visit(task, predecessor) for each pair, tasks ascending.
template <class Visit>
void for_each_edge(const Dag& dag, const Visit& visit) {
  for (std::uint32_t task = 0; task < dag.tasks; ++task) {
    if (dag.columns != 0) {
      if (task >= dag.columns) visit(task, task - dag.columns);
      if (task % dag.columns != 0) visit(task, task - 1);
    } else {
      for (std::uint32_t e = dag.predecessor_offsets[task]; e < dag.predecessor_offsets[task + 1]; ++e) {
        visit(task, dag.predecessors[e]);
      }
    }
  }
}

void count_dependencies(Dag& dag) {
  dag.dependencies.assign(dag.tasks, 0);
  for_each_edge(dag, [&](std::uint32_t task, std::uint32_t) { ++dag.dependencies[task]; });
}

}  // namespace

std::uint32_t Dag::most_ready() const { return columns == 0 ? tasks : std::min(columns, tasks / columns); }

std::uint64_t Dag::edges() const {
  if (columns == 0) return predecessors.size();
  return 2 * std::uint64_t{tasks} - columns - tasks / columns;
}

Dag make_wavefront(std::uint32_t rows, std::uint32_t columns) {
  const std::uint64_t cells = std::uint64_t{rows} * columns;
  if (cells == 0 || cells > kMostTasks) throw InvalidInput("a wavefront has 1 to 2^30 - 1 cells");
  Dag dag;
  dag.name = "wavefront " + std::to_string(rows) + "x" + std::to_string(columns);
  dag.tasks = static_cast<std::uint32_t>(cells);
  dag.columns = columns;
  count_dependencies(dag);
  return dag;
}

Dag make_triangle(const CsrPattern& pattern, std::string name) {
  if (pattern.rows == 0 || pattern.rows > pattern.cols) throw InvalidInput(name + ": no square matrix with rows");
  if (static_cast<std::uint32_t>(pattern.rows) > kMostTasks) throw InvalidInput(name + ": more than 2^30 - 1 rows");
  Dag dag;
  dag.name = std::move(name);
  dag.tasks = static_cast<std::uint32_t>(pattern.rows);
  dag.predecessor_offsets.push_back(0);
  dag.successor_offsets.assign(dag.tasks + std::size_t{1}, 0);
  for (Index row = 0; row < pattern.rows; ++row) {
    for (Offset e = pattern.row_offsets[row]; e < pattern.row_offsets[row + 1]; ++e) {
      if (pattern.col_indices[e] >= row) continue;
      dag.predecessors.push_back(static_cast<std::uint32_t>(pattern.col_indices[e]));
      ++dag.successor_offsets[dag.predecessors.back() + std::size_t{1}];
    }
    dag.predecessor_offsets.push_back(static_cast<std::uint32_t>(dag.predecessors.size()));
  }
  for (std::size_t t = 0; t < dag.tasks; ++t) dag.successor_offsets[t + 1] += dag.successor_offsets[t];
  dag.successors.resize(dag.predecessors.size());
  std::vector<std::uint32_t> next(dag.successor_offsets.begin(), dag.successor_offsets.end() - 1);
  for_each_edge(dag, [&](std::uint32_t task, std::uint32_t before) { dag.successors[next[before]++] = task; });
  count_dependencies(dag);
  return dag;
}

std::vector<std::uint32_t> serial_values(const Dag& dag) {
  std::vector<std::uint32_t> values(dag.tasks, 0);
  for_each_edge(dag, [&](std::uint32_t task, std::uint32_t before) {
    values[task] = std::max(values[task], values[before] + 1);
  });
  return values;
}

}  // namespace taskdag::progression
