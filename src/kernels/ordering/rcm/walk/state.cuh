/// \file
/// What a walk over levels keeps in device memory.
///
/// Encoding: owner[v] is the smallest position in the queue among the neighbours of v that have been walked, kFree
/// before the first. All of v's neighbours in the level before v's write it by atomicMin before the level's barrier;
/// those that come later have larger positions and change nothing. So after the barrier owner[v] names v's parent in
/// Cuthill–McKee's order, and each parent takes the neighbours that name it. An unordered walk takes v where it was
/// kFree.
#pragma once

#include "kernels/ordering/graph/adjacency.hpp"

namespace taskdag::kernels::rcm {

inline constexpr int kBlock = 1024;
inline constexpr Index kFree = 0x7FFFFFFF;
/// Nodes of a level that a block keeps in shared memory.
inline constexpr Index kListed = 4096;
/// Neighbours that a thread looks at together.
inline constexpr int kBatch = 4;

/// What the blocks tell each other; in device memory.
struct State {
  Index begin;
  Index end;
  Index level;
  Index gave_up;
  Index pushed[3];  ///< by the number of the wide level, modulo 3
};

struct Walk {
  GraphView graph;
  int log2_lanes;  ///< threads that share a node
  Index hub;       ///< nodes of more neighbours are walked by a whole block
  bool hubs;       ///< there are such nodes
  Index narrow;    ///< levels of so many nodes are walked by one block, at most kListed
  Index middle;    ///< by one cluster, at most kListed for each of its blocks; `narrow` where there are no clusters
  Index starts;
  Index* queue;
  Index* level_begin;
  Index* owner;
  Index* block_total;
  State* state;
};

}  // namespace taskdag::kernels::rcm
