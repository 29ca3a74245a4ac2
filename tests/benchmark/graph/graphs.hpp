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

}  // namespace taskdag::benchmark
