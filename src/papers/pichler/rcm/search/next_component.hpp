/// \file
/// NextComponent: where the next component begins.
#pragma once

#include "papers/pichler/rcm/atomics.hpp"
#include "papers/pichler/rcm/permutation/sums.hpp"
#include "papers/pichler/rcm/search/small_component.hpp"
#include "papers/pichler/rcm/search/types.hpp"

namespace taskdag::kernels::rcm_tasks {

/// Looks for the first node that has no position. Orders single nodes and small components by itself, one a lane, so
/// that thousands of them need no run each; begins the search of a larger one.
struct NextComponent {
  using Item = int;  // nothing
  static constexpr auto name = "next component";
  static constexpr engine::WorkerSize worker = kWorker;
  static constexpr int max_children = 1;
  static constexpr bool waits = false;
  using Creates = engine::Types<SearchDelegate>;

  struct Scratch {
    int sums[2][kLanes];
    std::uint32_t first_large;  ///< lane whose node belongs to a large component
  };
  static constexpr std::size_t shared_bytes = sizeof(Scratch);

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& /*nothing*/) {
    const SearchData& data = context.data();
    const auto& group = context.group();
    auto& scratch = *reinterpret_cast<Scratch*>(context.shared());
    const Index nodes = data.graph.nodes;
    const Index begin = data.state->cursor;
    group.sync();  // all lanes have read
    if (group.rank() == 0) data.state->start = -1;
    for (Index batch = begin; batch < nodes; batch += group.size()) {
      const Index mine = batch + group.rank();
      const bool open = mine < nodes && data.parents[mine] != kPlaced;
      if (!group.any(open)) continue;
      const auto large = static_cast<int>(place_small(group, scratch, data, mine, open));
      if (large == group.size()) continue;
      if (group.rank() == 0) {
        data.state->cursor = batch + large;
        begin_search(context, batch + large, SearchStage::whole);
      }
      return;
    }
  }

 private:
  /// Places the small components whose first nodes are the lanes' own, up to the first lane with a large one. `open`:
  /// the lane's node has no position. Reached by all lanes. @returns that lane, or their number
  template <class Group>
  TASKDAG_TASK static std::uint32_t place_small(const Group& group, Scratch& scratch, const SearchData& data,
                                                Index mine, bool open) {
    const auto rank = static_cast<std::uint32_t>(group.rank());
    if (rank == 0) scratch.first_large = static_cast<std::uint32_t>(group.size());
    group.sync();
    SmallComponent component;
    const bool small = open && component.find(data.graph, mine);
    if (open && !small) lower(scratch.first_large, rank);
    group.sync();
    const std::uint32_t large = look(scratch.first_large);
    const bool placing = small && rank < large && component.first_node() == mine;
    const int size = placing ? component.size() : 0;
    const Index placed = *data.placed;
    const int* const sums = inclusive_sums(group, scratch.sums, size);
    if (placing) {
      component.place(data.graph, data.rank, data.order + placed + sums[rank] - size);
      for (int i = 0; i < size; ++i) data.parents[component.node(i)] = kPlaced;
    }
    if (rank == 0) *data.placed = placed + sums[group.size() - 1];
    group.sync();  // all lanes see what was placed
    return large;
  }
};

}  // namespace taskdag::kernels::rcm_tasks
