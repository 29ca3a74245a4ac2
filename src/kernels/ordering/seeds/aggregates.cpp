#include "kernels/ordering/seeds/aggregates.hpp"

#include "base/index.hpp"

namespace taskdag::kernels {

Aggregation aggregate_around_seeds(const GraphView& graph, int distance, host::ThreadPool& pool) {
  const std::vector<Role> role = find_roles(graph, kNoHubs, pool);
  const std::vector<char> seed = choose_seeds(graph, role, distance, pool);
  Aggregation result;
  result.aggregate.assign(at(graph.nodes), -1);
  for (Index row = 0; row < graph.nodes; ++row) {
    if (!seed[at(row)]) continue;
    result.aggregate[at(row)] = result.count();
    result.roots.push_back(row);
  }
  grow_blocks(graph, role, distance, pool, result.aggregate);
  return result;
}

}  // namespace taskdag::kernels
