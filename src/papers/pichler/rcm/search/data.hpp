/// \file
/// What the tasks of the start-node search see (MHive, algorithm 7.2).
#pragma once

#include <cstdint>

#include "papers/pichler/rcm/permutation/data.hpp"

namespace taskdag::kernels::rcm_tasks {

/// Which breadth-first search of a component is running.
enum class SearchStage : std::int32_t {
  whole,      ///< from the component's first node: finds all of it
  least,      ///< from the node of least degree
  candidate,  ///< from a node of the last level of the search before
};

/// Memory of the backend, zeroed.
struct SearchState {
  Index cursor;             ///< all nodes before it are placed
  Index start;              ///< result: the pseudo-peripheral node of the next component, or -1: all nodes are placed
  Index source;             ///< of the search that is running
  SearchStage stage;        ///< of it
  std::uint32_t seen;       ///< its number: mark of the nodes that it has reached
  std::uint32_t tail;       ///< nodes that it has reached
  Index depth;              ///< levels that it has seen, less one
  Index eccentricity;       ///< largest depth of the component's searches from `least` on
  std::uint32_t searches;   ///< of all components
  std::uint32_t least;      ///< least rank of the nodes to choose from
  engine::Dependency next;  ///< the step that waits
};

struct SearchData {
  GraphView graph;
  const Index* rank;
  const Index* by_rank;
  Index* order;         ///< single nodes and small components are placed at once
  Index* placed;        ///< one word: nodes in `order`
  Parent* parents;      ///< kPlaced marks the nodes that are placed
  std::uint32_t* seen;  ///< by node: the last search that has reached it
  Index* queue;         ///< nodes in the order in which the search reached them
  SearchState* state;
};

/// Nodes that one worker looks at without creating tasks: making them takes about as long.
inline constexpr Index kNarrow = 256;

}  // namespace taskdag::kernels::rcm_tasks
