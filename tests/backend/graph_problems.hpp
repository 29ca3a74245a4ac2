/// \file
/// Graphs that the graph algorithms are tested on: symmetric patterns.
#pragma once

#include <string>
#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::test {

struct GraphProblem {
  std::string name;
  CsrMatrix graph;
};

/// An undirected graph from its edges, without loops.
CsrMatrix graph_of(Index vertices, const std::vector<std::pair<Index, Index>>& edges);

/// No edge, one vertex, loops, a path, a star, a complete graph, several components, grids, a scale-free graph.
std::vector<GraphProblem> graph_problems();

}  // namespace taskdag::test
