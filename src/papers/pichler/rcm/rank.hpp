/// \file
/// The nodes by degree, then index.
#pragma once

#include <vector>

#include "kernels/ordering/graph/adjacency.hpp"

namespace taskdag::kernels::rcm_tasks {

/// @returns the nodes in ascending order of (degree, index)
std::vector<Index> nodes_by_degree(const GraphView& graph);

}  // namespace taskdag::kernels::rcm_tasks
