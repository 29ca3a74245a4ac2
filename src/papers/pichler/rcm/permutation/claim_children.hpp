/// \file
/// What the tasks of a level's parents do, whichever worker runs them.
#pragma once

#include "papers/pichler/rcm/atomics.hpp"
#include "papers/pichler/rcm/edges.hpp"
#include "papers/pichler/rcm/types.hpp"

namespace taskdag::kernels::rcm_tasks {

/// Writes the parents, which lie sorted in `keys`, into the order, and leaves with each neighbour that has no position
/// yet the earliest of its parents. Reached by all lanes of the worker.
template <class Group>
TASKDAG_TASK void claim_children(const Group& group, std::byte* shared, const PermutationData& data,
                                 const ParentRange& parents) {
  const auto node_at = [&](Index position) {
    const Index node = data.node(data.keys[position - parents.level]);
    data.order[position] = node;
    return node;
  };
  for_each_edge(group, *reinterpret_cast<EdgeScratch*>(shared), data.graph, parents.first, parents.end, node_at,
                [&](Index position, Index child) {
                  const Parent parent = static_cast<Parent>(position - parents.level) + 1U;
                  // Placed nodes are below all parents, so that they are never written.
                  if (look(data.parents[child]) <= parent) return;
                  if (lower(data.parents[child], parent) == kUnseen && data.candidates != nullptr) {
                    data.candidates[append(data.state->touched)] = child;
                  }
                });
}

}  // namespace taskdag::kernels::rcm_tasks
