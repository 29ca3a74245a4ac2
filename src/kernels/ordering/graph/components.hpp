/// \file
/// Connected components of a graph in device memory.
#pragma once

#include "kernels/ordering/graph/ranked_graph.hpp"

namespace taskdag::kernels {

/// Writes to root[v] the least node of v's component. Asynchronous on `stream`.
void find_components(const RankedGraph& ranked, Index* root, cudaStream_t stream);

}  // namespace taskdag::kernels
