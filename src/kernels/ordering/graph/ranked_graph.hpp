/// \file
/// A graph renumbered by what Cuthill–McKee breaks ties with.
#pragma once

#include "kernels/ordering/graph/device_graph.hpp"

namespace taskdag::kernels {

/// A graph in device memory whose nodes are numbered by their rank: by degree, equal ones by their own number. Then
/// "least degree, then index" is the least number, and the children of a node come in the right order just as they are
/// met in its ascending list: nothing remains to sort while the levels are walked.
struct RankedGraph {
  DeviceGraph graph;                        ///< of ranks
  cuda::ScratchArray<Index> node_of;        ///< rank → node
  cuda::ScratchArray<Index> rank_of_entry;  ///< entry of `graph` → the rank whose list it is in
  Index most_neighbours = 0;
  Index isolated = 0;  ///< nodes without neighbours: the first ranks
};

/// Synchronises `stream`.
RankedGraph rank_by_degree(const DeviceGraph& graph, cudaStream_t stream);

}  // namespace taskdag::kernels
