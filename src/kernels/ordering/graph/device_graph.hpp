/// \file
/// The graph of A + Aᵀ in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include "backends/cuda/memory.hpp"
#include "csr/pattern.hpp"
#include "kernels/ordering/graph/adjacency.hpp"

namespace taskdag::kernels {

/// Owns a graph in device memory, for as long as the stream it was made on lives.
struct DeviceGraph {
  Index nodes = 0;
  EdgeOffset entries = 0;  ///< length of `neighbours`: every edge twice
  cuda::ScratchArray<EdgeOffset> offsets;
  cuda::ScratchArray<Index> neighbours;

  /// For kernels: the arrays are in device memory.
  [[nodiscard]] GraphView view() const { return {nodes, offsets.data(), neighbours.data()}; }
};

/// The graph of A + Aᵀ without the diagonal, neighbours ascending; entries are sorted only where the pattern is not
/// symmetric. @pre columns ascend inside the rows. Synchronises `stream` (sizes are needed).
DeviceGraph symmetrised_graph(const DevicePattern& a, cudaStream_t stream);

/// Whether every entry (i, j) of `a` has a partner (j, i). Synchronises `stream`.
bool has_symmetric_pattern(const DevicePattern& a, cudaStream_t stream);

}  // namespace taskdag::kernels
