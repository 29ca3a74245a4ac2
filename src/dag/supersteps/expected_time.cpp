#include "dag/supersteps/expected_time.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "base/index.hpp"
#include "dag/dependencies.hpp"

namespace taskdag {

namespace {

std::int64_t barrier_time(int cores, const PlanCosts& costs) {
  return costs.hop * std::bit_width(static_cast<unsigned>(cores) - 1U);
}

/// Of the supersteps' longest portions.
std::int64_t time_of_longest_portions(const SuperstepSchedule& schedule, const CsrPattern& pattern, Triangle triangle,
                                      const PlanCosts& costs) {
  const Index ahead = triangle == Triangle::lower ? 1 : -1;
  std::int64_t total = 0;
  for (Index s = 0; s < schedule.supersteps; ++s) {
    std::int64_t longest = 0;
    for (int c = 0; c < schedule.cores; ++c) {
      std::int64_t time = 0;
      for (Index p = schedule.first(s, c); p < schedule.last(s, c); ++p) {
        const Index row = schedule.order[at(p)];
        const bool follows = p > schedule.first(s, c) && row == schedule.order[at(p - 1)] + ahead;
        time += costs.row + costs.entry * static_cast<std::int64_t>(dependencies(pattern, triangle, row).size()) +
                (follows ? 0 : costs.chunk);
      }
      longest = std::max(longest, time);
    }
    total += longest;
  }
  return total;
}

}  // namespace

std::int64_t expected_time(const TaskGraph& graph, const Assignment& assignment, int cores, const PlanCosts& costs) {
  struct Portion {
    Index last_task = -2;
    std::int64_t time = 0;
  };
  std::vector<Portion> portions(static_cast<std::size_t>(assignment.supersteps) * static_cast<std::size_t>(cores));
  for (Index task = 0; task < graph.size(); ++task) {
    const auto t = static_cast<std::size_t>(task);
    Portion& portion = portions[static_cast<std::size_t>(assignment.superstep[t]) * static_cast<std::size_t>(cores) +
                                static_cast<std::size_t>(assignment.core[t])];
    const std::int64_t entries = graph.weight[t] - 1;
    portion.time += costs.row + costs.entry * entries + (portion.last_task == task - 1 ? 0 : costs.chunk);
    portion.last_task = task;
  }
  std::int64_t total = barrier_time(cores, costs) * assignment.supersteps;
  for (auto first = portions.begin(); first != portions.end(); first += cores) {
    total += std::max_element(first, first + cores, [](const Portion& a, const Portion& b) {
               return a.time < b.time;
             })->time;
  }
  return total;
}

std::int64_t expected_time(const SuperstepSchedule& schedule, const CsrPattern& pattern, Triangle triangle,
                           const PlanCosts& costs) {
  return time_of_longest_portions(schedule, pattern, triangle, costs) +
         barrier_time(schedule.cores, costs) * schedule.supersteps;
}

std::int64_t expected_time_with_waits(const SuperstepSchedule& schedule, const CsrPattern& pattern, Triangle triangle,
                                      const PlanCosts& costs) {
  return time_of_longest_portions(schedule, pattern, triangle, costs) + costs.hop * schedule.supersteps;
}

std::int64_t expected_serial_time(const CsrPattern& pattern, Triangle triangle, const PlanCosts& costs) {
  std::int64_t total = costs.row * pattern.rows;
  for (Index row = 0; row < pattern.rows; ++row) {
    total += costs.entry * static_cast<std::int64_t>(dependencies(pattern, triangle, row).size());
  }
  return total;
}

}  // namespace taskdag
