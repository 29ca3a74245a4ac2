/// \file
/// The graphs that the graph algorithms are measured on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::benchmark {

struct GraphCase {
  std::string name;
  std::string kind;  ///< "mesh", "scale-free", "smoke"
  std::function<CsrMatrix()> make;
  bool large = false;  ///< of the size of the paper's graphs: seconds to make, a GPU's memory to run on
};

/// Generated ones, then files of TASKDAG_MATRIX_DIR if it is set; the smoke test's last. Matrices may lack values.
std::vector<GraphCase> list_graphs();

/// A graph like a network of roads: edge x edge junctions on a grid, of each four roads three are there at random, and
/// each road has a vertex on its way, so a vertex has 2.4 neighbours in the mean and 4 at most (road_usa: 2.4 and 9).
/// Vertices are numbered row by row. The same graph on every machine. @throws InvalidInput for less than one junction,
/// or more than 2^29 vertices
CsrMatrix make_roads(Index edge);

/// A vertex of the largest degree: it lies in a large component.
Index busiest_vertex(const CsrMatrix& graph);

/// Orders in which vertices can be numbered anew: "random", which tells nothing of who is whose neighbour, and "rcm"
/// (reverse Cuthill-McKee), in which neighbours have numbers near each other.
const std::vector<std::string>& list_orders();

/// The same graph with its vertices numbered in that order: the same one in each run. It has no values.
/// @pre symmetric structure. @throws InvalidInput for another name
CsrMatrix renumbered(const CsrMatrix& graph, const std::string& order);

}  // namespace taskdag::benchmark
