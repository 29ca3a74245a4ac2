/// \file
/// All edges of a range of nodes, dealt out evenly to the lanes of one worker.
#pragma once

#include "kernels/ordering/graph/adjacency.hpp"
#include "papers/pichler/rcm/permutation/sums.hpp"

namespace taskdag::kernels::rcm_tasks {

/// A worker's scratch memory.
struct EdgeScratch {
  EdgeOffset sums[2][kLanes];
  EdgeOffset begins[kLanes];
};

/// Calls visit(position, neighbour) for each neighbour of node_at(position), positions [first, end), in any order.
/// node_at is called once per position. Reached by all lanes. A lane takes an edge, not a node, so that nodes of high
/// degree hold up no lane: the worker adds up the degrees of as many nodes as it has lanes, and each lane looks up
/// whose edge it has.
template <class Group, class NodeAt, class Visit>
TASKDAG_TASK void for_each_edge(const Group& group, EdgeScratch& scratch, const GraphView& graph, Index first,
                                Index end, const NodeAt& node_at, const Visit& visit) {
  const int rank = group.rank();
  const int lanes = group.size();
  for (Index batch = first; batch < end; batch += lanes) {
    EdgeOffset begin = 0;
    EdgeOffset degree = 0;
    if (batch + rank < end) {
      const Index node = node_at(batch + rank);
      begin = graph.begin(node);
      degree = graph.end(node) - begin;
    }
    scratch.begins[rank] = begin;
    const EdgeOffset* const sums = inclusive_sums(group, scratch.sums, degree);
    const EdgeOffset edges = sums[lanes - 1];
    for (EdgeOffset edge = rank; edge < edges; edge += lanes) {
      int low = 0;  // the first position whose sum is above the edge
      for (int step = lanes / 2; step > 0; step /= 2) {
        if (sums[low + step - 1] <= edge) low += step;
      }
      const EdgeOffset before = low == 0 ? 0 : sums[low - 1];
      visit(batch + low, graph.neighbours[scratch.begins[low] + edge - before]);
    }
    group.sync();  // the next batch writes here
  }
}

}  // namespace taskdag::kernels::rcm_tasks
