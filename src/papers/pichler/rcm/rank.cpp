#include "papers/pichler/rcm/rank.hpp"

#include <algorithm>

#include "base/index.hpp"

namespace taskdag::kernels::rcm_tasks {

std::vector<Index> nodes_by_degree(const GraphView& graph) {
  // By counting: an index for each degree there may be.
  Index highest = 0;
  for (Index node = 0; node < graph.nodes; ++node) highest = std::max(highest, graph.degree(node));
  std::vector<Index> next(at(highest) + 2, 0);
  for (Index node = 0; node < graph.nodes; ++node) ++next[at(graph.degree(node)) + 1];
  for (std::size_t degree = 1; degree < next.size(); ++degree) next[degree] += next[degree - 1];
  std::vector<Index> nodes(at(graph.nodes));
  for (Index node = 0; node < graph.nodes; ++node) nodes[at(next[at(graph.degree(node))]++)] = node;
  return nodes;
}

}  // namespace taskdag::kernels::rcm_tasks
