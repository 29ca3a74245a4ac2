#include "dag/supersteps/path_priority.hpp"

#include <algorithm>

namespace taskdag {

std::vector<std::int64_t> heaviest_paths(const TaskGraph& graph) {
  std::vector<std::int64_t> path(static_cast<std::size_t>(graph.size()));
  for (Index task = graph.size(); task-- > 0;) {
    std::int64_t longest = 0;
    for (const Index child : graph.children_of(task))
      longest = std::max(longest, path[static_cast<std::size_t>(child)]);
    path[static_cast<std::size_t>(task)] = longest + graph.weight[static_cast<std::size_t>(task)];
  }
  return path;
}

}  // namespace taskdag
