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
};

/// Generated ones, then files of TASKDAG_MATRIX_DIR if it is set; the smoke test's last.
std::vector<GraphCase> list_graphs();

/// A vertex of the largest degree: it lies in a large component.
Index busiest_vertex(const CsrMatrix& graph);

/// Orders in which vertices can be numbered anew: "random", which tells nothing of who is whose neighbour, and "rcm"
/// (reverse Cuthill-McKee), in which neighbours have numbers near each other.
const std::vector<std::string>& list_orders();

/// The same graph with its vertices numbered in that order: the same one in each run. Values are 1.
/// @pre symmetric structure. @throws InvalidInput for another name
CsrMatrix renumbered(const CsrMatrix& graph, const std::string& order);

}  // namespace taskdag::benchmark
