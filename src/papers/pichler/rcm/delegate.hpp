/// \file
/// Delegate: the level's children are all there, and can be counted.
#pragma once

#include "papers/pichler/rcm/sort/create_steps.hpp"

namespace taskdag::kernels::rcm_tasks {

/// Creates the SortBlock tasks of the first step of the sort; or ends the component, where there is nothing to sort.
template <class Flow>
struct Delegate {
  using Item = int;  // nothing
  static constexpr auto name = "delegate";
  static constexpr engine::WorkerSize worker = kWorker;
  static constexpr int max_children = kMostTasks + 1;
  static constexpr bool waits = Flow::waits;
  using Creates = engine::Types<SortBlock<Flow>, SortDelegate<Flow>>;

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& /*nothing*/) {
    const PermutationData& data = context.data();
    const std::uint32_t children = data.state->children;
    if (children == 0) {
      if (context.group().rank() == 0) *data.placed = data.state->end;
    } else if (!data.sorts_elsewhere) {
      create_sort_steps<Flow, SortBlock<Flow>>(context, children, data.chunk, 0);
    }
  }
};

}  // namespace taskdag::kernels::rcm_tasks
