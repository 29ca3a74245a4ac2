/// \file
/// Deterministic colouring of graphs on CUDA; the options and the result are those of colour.hpp.
#pragma once

#include <cuda_runtime_api.h>

#include "backends/cuda/memory.hpp"
#include "csr/pattern.hpp"
#include "kernels/ordering/colouring/colour.hpp"

namespace taskdag::kernels {

/// colour[i] of each vertex, a device array of graph.rows. @returns the number of colours. Synchronises `stream`.
/// @pre the pattern is square with symmetric structure
Index cuda_colour_graph(const DevicePattern& graph, const ColourOptions& options, Index* colour, cudaStream_t stream);

}  // namespace taskdag::kernels
