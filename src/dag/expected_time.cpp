#include "dag/expected_time.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace taskdag {

std::int64_t expected_time(const TaskGraph& graph, const Assignment& assignment, int cores, const PlanCosts& costs) {
  struct Cell {
    Index last_task = -2;
    std::int64_t time = 0;
  };
  std::vector<Cell> cells(static_cast<std::size_t>(assignment.supersteps) * static_cast<std::size_t>(cores));
  for (Index task = 0; task < graph.size(); ++task) {
    const auto t = static_cast<std::size_t>(task);
    Cell& cell = cells[static_cast<std::size_t>(assignment.superstep[t]) * static_cast<std::size_t>(cores) +
                       static_cast<std::size_t>(assignment.core[t])];
    const std::int64_t entries = graph.weight[t] - 1;
    cell.time += costs.row + costs.entry * entries + (cell.last_task == task - 1 ? 0 : costs.chunk);
    cell.last_task = task;
  }
  const std::int64_t barrier = costs.hop * std::bit_width(static_cast<unsigned>(cores) - 1U);
  std::int64_t total = barrier * assignment.supersteps;
  for (auto first = cells.begin(); first != cells.end(); first += cores) {
    total += std::max_element(first, first + cores, [](const Cell& a, const Cell& b) { return a.time < b.time; })->time;
  }
  return total;
}

}  // namespace taskdag
