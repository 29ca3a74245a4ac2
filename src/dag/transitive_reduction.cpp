#include "dag/transitive_reduction.hpp"

namespace taskdag {

void remove_long_edges(TaskGraph& graph, const ReductionEffort& effort) {
  constexpr Index kNone = -1;
  std::vector<Index> child(static_cast<std::size_t>(graph.size()), kNone);  // whose edge from here is still there
  std::vector<Index> kept;
  std::vector<Offset> offsets{0};
  offsets.reserve(graph.parent_offsets.size());
  kept.reserve(graph.parents.size());
  std::int64_t looked_at = 0;
  Index task = 0;
  for (; task < graph.size(); ++task) {
    const auto seen = static_cast<std::int64_t>(graph.parent_offsets[static_cast<std::size_t>(task)]);
    const std::int64_t removed = seen - static_cast<std::int64_t>(kept.size());
    if (looked_at > effort.base && looked_at - effort.base > effort.edge * seen + effort.removed * removed) break;
    const auto parents = graph.parents_of(task);
    for (const Index parent : parents) child[static_cast<std::size_t>(parent)] = task;
    // The last parent is no other parent's ancestor; those before it are tried from the far end of the list, where the
    // most numerous and most recent ancestors are.
    std::size_t remaining = parents.size();
    for (std::size_t k = parents.size(); k-- > 1 && remaining > 1;) {
      const auto grandparents = graph.parents_of(parents[k]);
      for (std::size_t g = grandparents.size(); g-- > 0 && grandparents[g] >= parents.front();) {
        ++looked_at;
        Index& mark = child[static_cast<std::size_t>(grandparents[g])];
        if (mark != task) continue;
        mark = kNone;
        --remaining;
      }
    }
    for (const Index parent : parents) {
      if (child[static_cast<std::size_t>(parent)] == task) kept.push_back(parent);
    }
    offsets.push_back(static_cast<Offset>(kept.size()));
  }
  for (; task < graph.size(); ++task) {
    const auto parents = graph.parents_of(task);
    kept.insert(kept.end(), parents.begin(), parents.end());
    offsets.push_back(static_cast<Offset>(kept.size()));
  }
  graph.parents = std::move(kept);
  graph.parent_offsets = std::move(offsets);
  graph.child_offsets.assign(1, 0);
  graph.children.clear();
}

}  // namespace taskdag
