/// \file
/// A superstep for each level, its tasks shared out to cores.
#include <algorithm>

#include "papers/boehnlein/level_schedulers.hpp"
#include "papers/boehnlein/level_tasks.hpp"

namespace taskdag {

void cut_level(const TaskGraph& graph, std::span<const Index> tasks, int cores, Index superstep, Assignment& result) {
  std::int64_t total = 0;
  for (const Index task : tasks) total += graph.weight[static_cast<std::size_t>(task)];
  if (total == 0) return;   // no task
  std::int64_t before = 0;  // in halves, so that a task goes where its middle lies
  for (const Index task : tasks) {
    const std::int64_t weight = graph.weight[static_cast<std::size_t>(task)];
    result.core[static_cast<std::size_t>(task)] = static_cast<Index>((2 * before + weight) * cores / (2 * total));
    result.superstep[static_cast<std::size_t>(task)] = superstep;
    before += weight;
  }
}

Assignment schedule_level_set(const TaskGraph& graph, int cores) {
  const LevelTasks levels(graph);
  const auto tasks = static_cast<std::size_t>(graph.size());
  Assignment result{levels.count(), std::vector<Index>(tasks), std::vector<Index>(tasks)};
  for (Index level = 0; level < levels.count(); ++level) cut_level(graph, levels[level], cores, level, result);
  return result;
}

}  // namespace taskdag
