/// \file
/// Breadth-first search: the least number of edges from a source to each vertex.
/// Source of the forms: Chen et al. 2022 (Atos), algorithms 1 and 2.
#pragma once

#include "studies/graph/algorithm.hpp"

namespace taskdag::graph {

/// Of vertices that the source does not reach.
inline constexpr Index kUnreached = 0x7FFFFFFF;

/// Serial: the oracle. @throws InvalidInput for a source that is no vertex
std::vector<Index> reference_bfs(const CsrPattern& graph, Index source);

/// @pre `graph` is square. @throws InvalidInput for a source that is no vertex or a form that is not compiled;
/// Unsupported for bsp_graph on the host
std::unique_ptr<Algorithm<Index>> make_bfs(const Context& context, const CsrPattern& graph, Index source,
                                           const Form& form);

}  // namespace taskdag::graph
