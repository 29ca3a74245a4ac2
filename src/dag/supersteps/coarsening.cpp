#include "dag/supersteps/coarsening.hpp"

#include <algorithm>
#include <numeric>

namespace taskdag {

TaskGraph coarsen(const TaskGraph& graph, const Partition& partition) {
  const auto groups = static_cast<std::size_t>(partition.groups);
  std::vector<Index> first(groups + 1, 0);
  for (const Index g : partition.group) ++first[static_cast<std::size_t>(g) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<Index> members(partition.group.size());
  std::vector<Index> next(first.begin(), first.end() - 1);
  for (std::size_t task = 0; task < members.size(); ++task) {
    members[static_cast<std::size_t>(next[static_cast<std::size_t>(partition.group[task])]++)] =
        static_cast<Index>(task);
  }

  TaskGraph coarse;
  coarse.parent_offsets.reserve(groups + 1);
  coarse.weight.assign(groups, 0);
  std::vector<Index> last_child(groups, -1);  // the last group that was found to wait for this one
  for (std::size_t g = 0; g < groups; ++g) {
    for (Index m = first[g]; m < first[g + 1]; ++m) {
      const Index task = members[static_cast<std::size_t>(m)];
      coarse.weight[g] += graph.weight[static_cast<std::size_t>(task)];
      for (const Index parent : graph.parents_of(task)) {
        const auto from = static_cast<std::size_t>(partition.group[static_cast<std::size_t>(parent)]);
        if (from == g || last_child[from] == static_cast<Index>(g)) continue;
        last_child[from] = static_cast<Index>(g);
        coarse.parents.push_back(static_cast<Index>(from));
      }
    }
    std::sort(coarse.parents.begin() + coarse.parent_offsets.back(), coarse.parents.end());
    coarse.parent_offsets.push_back(static_cast<Offset>(coarse.parents.size()));
  }
  return coarse;
}

}  // namespace taskdag
