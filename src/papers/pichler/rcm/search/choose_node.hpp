/// \file
/// ChooseNode: the node of least degree, then index, in a part of the search's queue.
#pragma once

#include "papers/pichler/rcm/atomics.hpp"
#include "papers/pichler/rcm/search/types.hpp"

namespace taskdag::kernels::rcm_tasks {

struct ChooseNode {
  using Item = QueueRange;
  static constexpr auto name = "choose node";
  static constexpr engine::WorkerSize worker = kWorker;
  static constexpr int max_children = 1;
  static constexpr bool waits = false;
  using Creates = engine::Types<SearchEnd>;

  static constexpr std::int64_t least = std::int64_t{4} * kLanes;  ///< nodes of a task

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& nodes) {
    const SearchData& data = context.data();
    const auto& group = context.group();
    std::uint32_t best = 0xFFFFFFFFU;
    for (Index position = nodes.first + group.rank(); position < nodes.end; position += group.size()) {
      const auto rank = static_cast<std::uint32_t>(data.rank[data.queue[position]]);
      best = rank < best ? rank : best;
    }
    if (best < look(data.state->least)) lower(data.state->least, best);
    group.sync();
    if (group.rank() == 0) context.template reduce<SearchEnd>(data.state->next);
  }
};

}  // namespace taskdag::kernels::rcm_tasks
