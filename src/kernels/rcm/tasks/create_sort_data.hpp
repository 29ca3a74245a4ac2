/// \file
/// CreateSortData: parents claim their neighbours.
#pragma once

#include "kernels/rcm/tasks/atomics.hpp"
#include "kernels/rcm/tasks/edges.hpp"
#include "kernels/rcm/tasks/types.hpp"

namespace taskdag::kernels::rcm_tasks {

/// Writes its part of the level, which lies sorted in `keys`, into the order, and leaves with each neighbour that has
/// no place yet the earliest of its parents.
template <class Flow>
struct CreateSortData {
  using Item = ParentRange;
  static constexpr auto name = "create sort data";
  static constexpr engine::WorkerSize worker = kWorker;
  static constexpr std::size_t shared_bytes = sizeof(EdgeScratch);
  static constexpr int max_children = 1;
  static constexpr bool waits = false;
  using Creates = engine::Types<CompressSortData<Flow>>;

  /// Parents of a task at least: on meshes, some edges for each lane.
  static constexpr std::int64_t least = 64;

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& parents) {
    const PermutationData& data = context.data();
    auto& scratch = *reinterpret_cast<EdgeScratch*>(context.shared());
    const auto node_at = [&](Index place) {
      const Index node = data.node(data.keys[place - parents.level]);
      data.order[place] = node;
      return node;
    };
    for_each_edge(context.group(), scratch, data.graph, parents.first, parents.end, node_at,
                  [&](Index place, Index child) {
                    const Parent parent = static_cast<Parent>(place - parents.level) + 1U;
                    // Placed nodes are below all parents, so that they are never written.
                    if (look(data.parents[child]) <= parent) return;
                    if (lower(data.parents[child], parent) == kUnseen && data.candidates != nullptr) {
                      data.candidates[append(data.state->touched)] = child;
                    }
                  });
    Flow::template done<CompressSortData<Flow>>(context, parents.first == parents.level, {-1, -1});
  }
};

}  // namespace taskdag::kernels::rcm_tasks
