/// \file
/// CompressSortData: the children that the level's parents have found, side by side.
#pragma once

#include "papers/pichler/rcm/atomics.hpp"
#include "papers/pichler/rcm/types.hpp"

namespace taskdag::kernels::rcm_tasks {

/// Looks through all nodes (MHive), or through the candidates, for nodes with a parent; gives each a position and a
/// key.
template <class Flow>
struct CompressSortData {
  using Item = CompressRange;
  static constexpr auto name = "compress sort data";
  static constexpr engine::WorkerSize worker = kWorker;
  static constexpr int max_children = kMostTasks + 1;
  static constexpr bool waits = Flow::waits;
  using Creates = engine::Types<CompressSortData, Delegate<Flow>>;

  static constexpr std::int64_t least = std::int64_t{8} * kLanes;  ///< each thread checks 8 entries

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& range) {
    const PermutationData& data = context.data();
    const auto& group = context.group();
    if (range.first < 0) {
      const std::int64_t size = data.candidates != nullptr ? static_cast<std::int64_t>(look(data.state->touched))
                                                           : std::int64_t{data.graph.nodes};
      const Share share(size, least);
      if (share.tasks > 1) {
        for (int task = group.rank(); task < share.tasks; task += group.size()) {
          context.template enqueue<CompressSortData>({share.begin(task), share.end(task)});
        }
        Flow::template after<Delegate<Flow>>(context, 0, share.tasks);
        return;
      }
      Flow::template after<Delegate<Flow>>(context, 0, 1);
      compress(context, {0, static_cast<Index>(size)});
    } else {
      compress(context, range);
    }
    Flow::template done<Delegate<Flow>>(context, range.first <= 0, 0);
  }

 private:
  template <class Context>
  TASKDAG_TASK static void compress(Context& context, const Item& range) {
    const PermutationData& data = context.data();
    for (Index i = range.first + context.group().rank(); i < range.end; i += context.group().size()) {
      const Index node = data.candidates != nullptr ? data.candidates[i] : i;
      const Parent parent = data.parents[node];
      if (parent == kPlaced || parent == kUnseen) continue;
      data.keys[append(data.state->children)] = data.key(parent, node);
      data.parents[node] = kPlaced;
    }
  }
};

}  // namespace taskdag::kernels::rcm_tasks
