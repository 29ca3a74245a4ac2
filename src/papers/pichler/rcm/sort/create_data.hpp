/// \file
/// CreateSortData: parents claim their neighbours.
#pragma once

#include "papers/pichler/rcm/permutation/claim_children.hpp"

namespace taskdag::kernels::rcm_tasks {

/// claim_children() for a part of the level.
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
    claim_children(context.group(), context.shared(), context.data(), parents);
    Flow::template done<CompressSortData<Flow>>(context, parents.first == parents.level, {-1, -1});
  }
};

}  // namespace taskdag::kernels::rcm_tasks
