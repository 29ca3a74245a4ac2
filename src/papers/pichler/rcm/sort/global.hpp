/// \file
/// SortGlobal: a step of the network whose partners lie in different chunks.
#pragma once

#include "papers/pichler/rcm/types.hpp"

namespace taskdag::kernels::rcm_tasks {

/// Swaps in global memory. A chunk takes part in half as many pairs.
template <class Flow>
struct SortGlobal {
  using Item = SortStep;
  static constexpr auto name = "sort global";
  static constexpr engine::WorkerSize worker = kWorker;
  static constexpr int max_children = 1;
  static constexpr bool waits = false;
  using Creates = engine::Types<SortDelegate<Flow>>;

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& step) {
    const PermutationData& data = context.data();
    const auto& group = context.group();
    const auto lanes = static_cast<std::uint32_t>(group.size());
    const std::uint32_t end = step.end * (data.chunk / 2);
    for (std::uint32_t pair = step.first * (data.chunk / 2) + static_cast<std::uint32_t>(group.rank()); pair < end;
         pair += lanes) {
      const std::uint32_t low = 2 * pair - (pair & (step.distance - 1));
      const std::uint32_t high = low + step.distance;
      const bool up = (low & step.run) == 0;
      const SortKey a = data.keys[low];
      const SortKey b = data.keys[high];
      if ((a > b) != up) continue;
      data.keys[low] = b;
      data.keys[high] = a;
    }
    Flow::template done<SortDelegate<Flow>>(context, step.first == 0, {step.run, step.distance, -1});
  }
};

}  // namespace taskdag::kernels::rcm_tasks
