#include "papers/helal/coarse_dag.hpp"

#include <algorithm>
#include <numeric>

#include "base/index.hpp"

namespace taskdag::kernels {

Index within_most_tasks(Aggregation aggregation, Index granularity, Index rows, Index levels) {
  const Index most_tasks = aggregation == Aggregation::concurrency ? levels : (rows - 1) / granularity + 1;
  return most_tasks > kMaxAdaptiveTasks ? std::max(granularity, (rows - 1) / (kMaxAdaptiveTasks - 1) + 1) : granularity;
}

Index next_granularity(Index granularity, Index rows) { return granularity > rows / 2 ? rows : 2 * granularity; }

std::vector<Index> join_levels(std::span<const Index> rows_of_level, Index granularity) {
  std::vector<Index> task_of_level;
  task_of_level.reserve(rows_of_level.size());
  Index task = 0;
  Index rows = 0;
  for (const Index level : rows_of_level) {
    task_of_level.push_back(task);
    rows += level;
    if (rows >= granularity) {
      ++task;
      rows = 0;
    }
  }
  return task_of_level;
}

std::vector<Index> first_positions(Aggregation aggregation, Index granularity, Index rows,
                                   std::span<const Index> rows_of_level, std::span<const Index> task_of_level) {
  std::vector<Index> first;
  switch (aggregation) {
    case Aggregation::sweep_order:
      return {0, rows};
    case Aggregation::by_level:
      first.assign(rows_of_level.size() + 1, 0);
      std::partial_sum(rows_of_level.begin(), rows_of_level.end(), first.begin() + 1);
      return first;
    case Aggregation::concurrency:
      first.assign(at(task_of_level.back()) + 2, 0);
      for (std::size_t l = 0; l < rows_of_level.size(); ++l) first[at(task_of_level[l]) + 1] += rows_of_level[l];
      std::partial_sum(first.begin(), first.end(), first.begin());
      return first;
    case Aggregation::locality:
    case Aggregation::greedy:
      for (Index p = 0; p < rows; p += std::min(granularity, rows - p)) first.push_back(p);
      first.push_back(rows);
      return first;
  }
  return first;
}

void CoarseEdges::add(std::span<const Index> found) {
  const auto t = static_cast<Index>(dag_.predecessor_offsets.size()) - 1;
  const bool follows = !found.empty() && found.back() == t - 1;
  if (!follows) chain_start_ = t;
  for (const Index other : found) {
    if (!follows || other == t - 1 || other < chain_start_) dag_.predecessors.push_back(other);
  }
  dag_.predecessor_offsets.push_back(static_cast<std::int64_t>(dag_.predecessors.size()));
}

DagClass classify(std::span<const Index> rows_of_level, Index wide_level) {
  constexpr std::size_t kShortCriticalPath = 100;
  if (rows_of_level.size() < kShortCriticalPath) return DagClass::parallel;
  const auto wide =
      std::count_if(rows_of_level.begin(), rows_of_level.end(), [&](Index rows) { return rows >= wide_level; });
  return 2 * static_cast<std::size_t>(wide) > rows_of_level.size() ? DagClass::wide : DagClass::l_shape;
}

const char* to_string(DagClass dag_class) {
  switch (dag_class) {
    case DagClass::parallel:
      return "parallel";
    case DagClass::wide:
      return "wide";
    case DagClass::l_shape:
      return "L-shape";
  }
  return "";
}

}  // namespace taskdag::kernels
