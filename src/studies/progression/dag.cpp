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

/// What follows from the predecessors: successors and counts.
void finish(Dag& dag) {
  dag.successor_offsets.assign(dag.tasks + std::size_t{1}, 0);
  for (const std::uint32_t before : dag.predecessors) ++dag.successor_offsets[before + std::size_t{1}];
  for (std::size_t t = 0; t < dag.tasks; ++t) dag.successor_offsets[t + 1] += dag.successor_offsets[t];
  dag.successors.resize(dag.predecessors.size());
  std::vector<std::uint32_t> next(dag.successor_offsets.begin(), dag.successor_offsets.end() - 1);
  for_each_edge(dag, [&](std::uint32_t task, std::uint32_t before) { dag.successors[next[before]++] = task; });
  count_dependencies(dag);
}

/// Tasks that stand behind one with so many successors: the layers of a tree, the one next to the task first.
std::vector<std::uint32_t> layers_behind(std::uint32_t successors, std::uint32_t most) {
  std::vector<std::uint32_t> layers;
  for (std::uint32_t width = successors; width > most; layers.insert(layers.begin(), width)) {
    width = (width + most - 1) / most;
  }
  return layers;
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
  for (Index row = 0; row < pattern.rows; ++row) {
    for (Offset e = pattern.row_offsets[row]; e < pattern.row_offsets[row + 1]; ++e) {
      if (pattern.col_indices[e] >= row) continue;
      dag.predecessors.push_back(static_cast<std::uint32_t>(pattern.col_indices[e]));
    }
    dag.predecessor_offsets.push_back(static_cast<std::uint32_t>(dag.predecessors.size()));
  }
  finish(dag);
  return dag;
}

Dag with_fan_out(const Dag& dag, std::uint32_t most, std::string name) {
  Dag cut;
  cut.name = std::move(name);
  cut.predecessor_offsets.push_back(0);
  // Of each task its new number, and that of the first of the layer that its successors wait for.
  std::vector<std::uint32_t> last_layer(dag.tasks);
  std::vector<std::uint32_t> handed_on(dag.tasks, 0);  // successors that have been placed
  const auto begin_task = [&cut] { return cut.tasks++; };
  const auto end_task = [&cut] {
    cut.predecessor_offsets.push_back(static_cast<std::uint32_t>(cut.predecessors.size()));
  };
  for (std::uint32_t task = 0; task < dag.tasks; ++task) {
    std::uint32_t above = begin_task();
    for (std::uint32_t e = dag.predecessor_offsets[task]; e < dag.predecessor_offsets[task + 1]; ++e) {
      const std::uint32_t before = dag.predecessors[e];
      cut.predecessors.push_back(last_layer[before] + handed_on[before]++ / most);
    }
    end_task();
    for (const std::uint32_t width :
         layers_behind(dag.successor_offsets[task + 1] - dag.successor_offsets[task], most)) {
      const std::uint32_t layer = cut.tasks;
      for (std::uint32_t k = 0; k < width; ++k) {
        begin_task();
        cut.predecessors.push_back(above + k / most);
        end_task();
      }
      above = layer;
    }
    last_layer[task] = above;
  }
  finish(cut);
  return cut;
}

Shape shape_of(const Dag& dag) {
  constexpr std::uint32_t kMany = 100;
  Shape shape;
  std::vector<std::uint64_t> start(dag.tasks, 0);
  for (std::uint32_t task = 0; task < dag.tasks; ++task) {  // tasks come after those that they wait for
    const std::uint32_t first = dag.successor_offsets[task];
    const std::uint32_t count = dag.successor_offsets[task + 1] - first;
    shape.most_successors = std::max(shape.most_successors, count);
    shape.most_predecessors = std::max(shape.most_predecessors, dag.dependencies[task]);
    if (count > kMany) shape.edges_of_many += count;
    for (std::uint32_t k = 0; k < count; ++k) {
      std::uint64_t& next = start[dag.successors[first + k]];
      next = std::max(next, start[task] + k + 1);
    }
    shape.longest_chain = std::max(shape.longest_chain, start[task] + count);
  }
  return shape;
}

std::vector<std::uint32_t> serial_values(const Dag& dag) {
  std::vector<std::uint32_t> values(dag.tasks, 0);
  for_each_edge(dag, [&](std::uint32_t task, std::uint32_t before) {
    values[task] = std::max(values[task], values[before] + 1);
  });
  return values;
}

}  // namespace taskdag::progression
