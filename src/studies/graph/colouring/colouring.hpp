/// \file
/// Greedy colouring that speculates: vertices take the least colour that they see at no neighbour, and a vertex that
/// finds itself in conflict with a neighbour that did the same at the same time takes another one. The colours differ
/// from run to run; colour.hpp has a colouring that does not. Source of the forms: Chen et al. 2022 (Atos), algorithms
/// 5 and 6; Gebremedhin & Manne 2000.
#pragma once

#include "studies/graph/algorithm.hpp"

namespace taskdag::graph {

/// Work is counted in colours taken: the number of vertices is the least. @pre `graph` has symmetric structure
/// @throws InvalidInput for a form that is not compiled; Unsupported for kernels on the host
std::unique_ptr<Algorithm<Index>> make_colouring(const Context& context, const CsrPattern& graph, const Form& form);

}  // namespace taskdag::graph
