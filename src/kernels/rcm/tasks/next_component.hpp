/// \file
/// NextComponent: where the next component begins.
#pragma once

#include "kernels/rcm/tasks/search_types.hpp"
#include "kernels/rcm/tasks/small_component.hpp"

namespace taskdag::kernels::rcm_tasks {

/// Looks for the first node that has no place. Orders single nodes and small components by itself, so that thousands
/// of them need no run each; begins the search of a larger one.
struct NextComponent {
  using Item = int;  // nothing
  static constexpr auto name = "next component";
  static constexpr engine::WorkerSize worker = kWorker;
  static constexpr std::size_t shared_bytes = sizeof(SmallComponent);
  static constexpr int max_children = 1;
  static constexpr bool waits = false;
  using Creates = engine::Types<SearchDelegate>;

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& /*nothing*/) {
    const SearchData& data = context.data();
    const auto& group = context.group();
    auto& component = *reinterpret_cast<SmallComponent*>(context.shared());
    const Index nodes = data.graph.nodes;
    const Index begin = data.state->cursor;
    group.sync();  // all lanes have read
    if (group.rank() == 0) data.state->start = -1;
    for (Index batch = begin; batch < nodes; batch += group.size()) {
      const Index mine = batch + group.rank();
      if (!group.any(mine < nodes && data.parents[mine] != kPlaced)) continue;
      bool found = false;
      if (group.rank() == 0) {
        const Index end = nodes - batch < group.size() ? nodes : batch + group.size();
        found = place_small(context, component, batch, end);
      }
      if (group.any(found)) return;  // also: what lane 0 has placed is seen by all
    }
  }

 private:
  /// By rank 0, for the nodes [first, end). @returns whether the search of a component has begun
  template <class Context>
  TASKDAG_TASK static bool place_small(Context& context, SmallComponent& component, Index first, Index end) {
    const SearchData& data = context.data();
    for (Index node = first; node < end; ++node) {
      if (data.parents[node] == kPlaced) continue;
      if (!component.find(data.graph, node)) {
        data.state->cursor = node;
        begin_search(context, node, SearchStage::whole);
        return true;
      }
      const int size = component.place(data.graph, data.rank, data.order + *data.placed);
      for (int i = 0; i < size; ++i) data.parents[component.node(i)] = kPlaced;
      *data.placed += size;
    }
    return false;
  }
};

}  // namespace taskdag::kernels::rcm_tasks
