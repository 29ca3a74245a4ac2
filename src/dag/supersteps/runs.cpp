#include "dag/supersteps/runs.hpp"

namespace taskdag {

Partition find_runs(const TaskGraph& graph, Index most) {
  Partition partition;
  partition.group.reserve(static_cast<std::size_t>(graph.size()));
  Index size = 0;  // of the last run
  for (Index task = 0; task < graph.size(); ++task) {
    const auto parents = graph.parents_of(task);
    const bool chained = !parents.empty() && parents.back() == task - 1;
    if (task == 0 || size == most || (!chained && 2 * size >= most)) {
      ++partition.groups;
      size = 0;
    }
    ++size;
    partition.group.push_back(partition.groups - 1);
  }
  return partition;
}

}  // namespace taskdag
