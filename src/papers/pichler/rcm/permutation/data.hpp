/// \file
/// What the six task types of the permutation see (MHive, algorithm 7.3).
#pragma once

#include <cstdint>

#include "kernels/ordering/graph/adjacency.hpp"
#include "papers/pichler/rcm/sort/key.hpp"
#include "taskdag/engine/dependency.hpp"

namespace taskdag::kernels::rcm_tasks {

/// By node, while a level is made: 1 + position within the level of the first parent that has found it (MHive:
/// `d_keys`).
using Parent = std::uint32_t;
inline constexpr Parent kPlaced = 0;  ///< the node has its position in the order, or in the level to sort
inline constexpr Parent kUnseen = 0xFFFFFFFFU;

/// Of the level that is being made. Memory of the backend, zeroed.
struct LevelState {
  Index first;              ///< position of the parents' first in the order
  Index end;                ///< one past their last
  std::uint32_t children;   ///< of them, compressed so far
  std::uint32_t touched;    ///< nodes in `candidates`
  std::uint32_t levels;     ///< made so far, of all components
  engine::Dependency next;  ///< the step that waits (flow.hpp)
};

inline constexpr std::uint32_t kMostChunk = 4096;

struct PermutationData {
  GraphView graph;
  const Index* rank;     ///< by node: its position in the order by degree, then index
  const Index* by_rank;  ///< the inverse
  Index* order;          ///< result: Cuthill-McKee, not reversed
  Index* placed;         ///< one word: nodes in `order`, of the components that are done
  Parent* parents;       ///< by node
  SortKey* keys;         ///< room for a power of two (MHive: `d_sort_keys`)
  Index* candidates;     ///< nodes with a parent in this level; null: compression looks at all nodes
  Index narrow;          ///< levels of so many nodes need no tasks; 0: all levels are made by tasks
  bool sorts_elsewhere;  ///< the run ends where a level is to be sorted
  unsigned rank_bits;    ///< that hold any rank
  std::uint32_t chunk;   ///< keys that a worker sorts in its shared memory: a power of two, 64 … kMostChunk
  LevelState* state;

  [[nodiscard]] TASKDAG_HD SortKey key(Parent parent, Index node) const {
    return static_cast<SortKey>(parent - 1U) << rank_bits | static_cast<SortKey>(rank[node]);
  }
  /// Keys that the network sorts where there are `count`: a power of two, the rest is filled with kLargestKey.
  [[nodiscard]] TASKDAG_HD std::uint32_t padded(std::uint32_t count) const {
    std::uint32_t size = chunk;
    while (size < count) size *= 2;
    return size;
  }
  [[nodiscard]] TASKDAG_HD Index node(SortKey key) const { return by_rank[key & ((SortKey{1} << rank_bits) - 1U)]; }
};

}  // namespace taskdag::kernels::rcm_tasks
