/// \file
/// A step of the sorting network as tasks.
#pragma once

#include "papers/pichler/rcm/types.hpp"

namespace taskdag::kernels::rcm_tasks {

/// Creates the tasks of one step, of type Step, for `count` keys. Reached by all lanes.
template <class Flow, class Step, class Context>
TASKDAG_TASK void create_sort_steps(Context& context, std::uint32_t count, std::uint32_t run, std::uint32_t distance) {
  const PermutationData& data = context.data();
  const Share share(data.padded(count) / data.chunk, 1);
  for (int task = context.group().rank(); task < share.tasks; task += context.group().size()) {
    context.template enqueue<Step>(
        {static_cast<std::uint32_t>(share.begin(task)), static_cast<std::uint32_t>(share.end(task)), run, distance});
  }
  Flow::template after<SortDelegate<Flow>>(context, {run, distance, -1}, share.tasks);
}

}  // namespace taskdag::kernels::rcm_tasks
