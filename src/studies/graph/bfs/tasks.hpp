/// \file
/// BFS as tasks that speculate: a vertex is expanded with the depth that it has by now, and again if a smaller one
/// turns up later.
///
/// Reads and writes of depths are relaxed: they only descend, and the worker that lowers one hands the vertex on to be
/// expanded with a depth that is no larger.
#pragma once

#include "studies/graph/range_task.hpp"

namespace taskdag::graph {

struct BfsData {
  GraphView graph;
  Index* depth;
  TallyRef tally;
  int rounds;
};

struct Expand {
  using Data = BfsData;
  using Item = EdgeRange;
  using Value = Index;  ///< depth of what is found
  using Seen = Index;   ///< depth of a neighbour
  static constexpr auto name = "expand";

  TASKDAG_TASK static Index begin(const BfsData& data, const EdgeRange& range) {
    return peek(data.depth[range.vertex]) + 1;
  }
  TASKDAG_TASK static Index see(const BfsData& data, Index /*next*/, Index u) { return peek(data.depth[u]); }
  TASKDAG_TASK static bool settle(const BfsData& data, Index next, Index u, Index seen, EdgeRange& child) {
    if (seen <= next || fetch_min(data.depth[u], next) <= next) return false;
    child = {u, data.graph.offsets[u], data.graph.offsets[u + 1]};
    return child.first < child.last;
  }
  TASKDAG_TASK static EdgeRange piece(const EdgeRange& range, Index /*next*/, Offset first, Offset last) {
    return {range.vertex, first, last};
  }
};

}  // namespace taskdag::graph
