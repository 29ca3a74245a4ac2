#include "dag/supersteps/superstep_schedule.hpp"

#include <algorithm>
#include <numeric>

#include "dag/dependencies.hpp"
#include "dag/task_graph.hpp"

namespace taskdag {

namespace {

std::optional<std::string> find_shape_fault(const SuperstepSchedule& schedule, Index rows) {
  if (schedule.cores < 1) return "there is no core";
  if (schedule.supersteps < 0) return "the number of supersteps is negative";
  if (schedule.rows() != rows) return "it has " + std::to_string(schedule.rows()) + " rows of " + std::to_string(rows);
  if (schedule.offsets.size() != schedule.portion(schedule.supersteps, 0) + 1) return "the number of portions is wrong";
  if (schedule.offsets.front() != 0 || schedule.offsets.back() != rows ||
      !std::is_sorted(schedule.offsets.begin(), schedule.offsets.end())) {
    return "the portions are not cut from the positions in order";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_fault(const SuperstepSchedule& schedule, const CsrPattern& pattern, Triangle triangle) {
  if (auto fault = find_shape_fault(schedule, pattern.rows)) return fault;
  const auto rows = static_cast<std::size_t>(pattern.rows);
  std::vector<Index> position(rows, -1);
  for (Index p = 0; p < pattern.rows; ++p) {
    const Index row = schedule.order[static_cast<std::size_t>(p)];
    if (row < 0 || row >= pattern.rows) return "there is no row " + std::to_string(row);
    if (position[static_cast<std::size_t>(row)] >= 0) return "row " + std::to_string(row) + " runs twice";
    position[static_cast<std::size_t>(row)] = p;
  }
  for (Index s = 0; s < schedule.supersteps; ++s) {
    for (int c = 0; c < schedule.cores; ++c) {
      for (Index p = schedule.first(s, c); p < schedule.last(s, c); ++p) {
        const Index row = schedule.order[static_cast<std::size_t>(p)];
        for (const Index column : dependencies(pattern, triangle, row)) {
          const Index from = position[static_cast<std::size_t>(column)];
          const bool in_portion = from >= schedule.first(s, c) && from < p;
          if (from >= schedule.first(s, 0) && !in_portion) {
            return "row " + std::to_string(row) + " runs before it can know row " + std::to_string(column);
          }
        }
      }
    }
  }
  return std::nullopt;
}

SuperstepSchedule make_superstep_schedule(Triangle triangle, int cores, const Assignment& assignment) {
  SuperstepSchedule schedule;
  schedule.cores = cores;
  schedule.supersteps = assignment.supersteps;
  schedule.offsets.assign(schedule.portion(assignment.supersteps, 0) + 1, 0);
  const std::size_t rows = assignment.core.size();
  const auto portion_of = [&](std::size_t step) {
    return schedule.portion(assignment.superstep[step], assignment.core[step]);
  };
  for (std::size_t step = 0; step < rows; ++step) ++schedule.offsets[portion_of(step) + 1];
  std::partial_sum(schedule.offsets.begin(), schedule.offsets.end(), schedule.offsets.begin());
  std::vector<Index> next(schedule.offsets.begin(), schedule.offsets.end() - 1);
  schedule.order.resize(rows);
  for (std::size_t step = 0; step < rows; ++step) {
    schedule.order[static_cast<std::size_t>(next[portion_of(step)]++)] =
        row_of_step(triangle, static_cast<Index>(rows), static_cast<Index>(step));
  }
  return schedule;
}

Assignment pull_back(const Assignment& coarse, const Partition& partition) {
  Assignment fine{coarse.supersteps, {}, {}};
  fine.core.reserve(partition.group.size());
  fine.superstep.reserve(partition.group.size());
  for (const Index group : partition.group) {
    fine.core.push_back(coarse.core[static_cast<std::size_t>(group)]);
    fine.superstep.push_back(coarse.superstep[static_cast<std::size_t>(group)]);
  }
  return fine;
}

}  // namespace taskdag
