#include "dag/supersteps/funnel.hpp"

#include <algorithm>
#include <span>

namespace taskdag {

namespace {

/// Joins `task` to the group of all `neighbours`, or opens one.
void join(Index task, std::span<const Index> neighbours, Offset weight, Offset most, Partition& partition,
          std::vector<Offset>& group_weight) {
  const auto group_of = [&](Index other) { return partition.group[static_cast<std::size_t>(other)]; };
  Index& group = partition.group[static_cast<std::size_t>(task)];
  if (!neighbours.empty()) {
    const Index common = group_of(neighbours.front());
    Offset& total = group_weight[static_cast<std::size_t>(common)];
    if (total <= most - weight &&
        std::ranges::all_of(neighbours, [&](Index other) { return group_of(other) == common; })) {
      group = common;
      total += weight;
      return;
    }
  }
  group = partition.groups++;
  group_weight.push_back(weight);
}

}  // namespace

// Groups are opened by the one task that has edges to the outside in the direction of the walk, its root. An edge
// between groups begins at the root of an in-funnel, which is the last of its tasks, and ends at the root of an
// out-funnel, the first of its tasks: the order of the roots is a topological order of the groups.
Partition find_funnels(const TaskGraph& graph, Funnel kind, Offset most) {
  Partition partition{0, std::vector<Index>(static_cast<std::size_t>(graph.size()))};
  std::vector<Offset> group_weight;
  const auto weight = [&](Index task) { return graph.weight[static_cast<std::size_t>(task)]; };
  if (kind == Funnel::out) {
    for (Index task = 0; task < graph.size(); ++task) {
      join(task, graph.parents_of(task), weight(task), most, partition, group_weight);
    }
    return partition;
  }
  for (Index task = graph.size(); task-- > 0;) {
    const auto children = graph.children_of(task);
    const bool alone = kind == Funnel::tree && children.size() > 1;
    join(task, alone ? std::span<const Index>() : children, weight(task), most, partition, group_weight);
  }
  for (Index& group : partition.group) group = partition.groups - 1 - group;
  return partition;
}

}  // namespace taskdag
