/// \file
/// What bulk synchronous runs have to do in each iteration, from the graphs alone: whether frontiers are small, and
/// degrees uneven (Chen et al. 2022, table 3).
#pragma once

#include <string>
#include <vector>

#include "graphs.hpp"
#include "studies/graph/pagerank/pagerank.hpp"

namespace taskdag::benchmark {

/// What one iteration takes on.
struct Frontier {
  Index vertices = 0;
  Offset edges = 0;  ///< of these vertices
};

/// Of a search: a frontier a depth, the source's first.
std::vector<Frontier> bfs_frontiers(const CsrPattern& graph, Index source);

/// Of PageRank: all vertices first, then those whose residue is above the threshold. Serial, single precision.
std::vector<Frontier> pagerank_frontiers(const CsrPattern& graph, const graph::PagerankOptions& options);

/// What is said of the frontiers of a run.
struct FrontierSummary {
  Index iterations = 0;
  Index median_vertices = 0;
  Offset median_edges = 0;
  Index small = 0;         ///< iterations with fewer edges than `lanes`
  Offset small_edges = 0;  ///< edges of these
  Offset edges = 0;        ///< of all
};
/// @pre there is a frontier
FrontierSummary summarise(const std::vector<Frontier>& frontiers, Offset lanes);

/// Rows of searches and of PageRank on all graphs to a file (CSV), and to the standard output.
void write_frontiers(const std::vector<GraphCase>& graphs, Offset lanes, const std::string& csv);

}  // namespace taskdag::benchmark
