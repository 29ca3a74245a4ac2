/// \file
/// SearchDelegate: from level to level of the breadth-first search.
#pragma once

#include "papers/pichler/rcm/permutation/visit_level.hpp"

namespace taskdag::kernels::rcm_tasks {

/// Its item is the level that has been visited. Goes through narrow levels by itself, cuts a wide one into VisitLevel
/// tasks; after the last level, creates the tasks that choose the next search's node.
struct SearchDelegate {
  using Item = QueueRange;
  static constexpr auto name = "search delegate";
  static constexpr engine::WorkerSize worker = kWorker;
  static constexpr std::size_t shared_bytes = sizeof(EdgeScratch);
  static constexpr int max_children = kMostTasks + 1;
  using Creates = engine::Types<VisitLevel, SearchDelegate, ChooseNode, SearchEnd>;

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& visited) {
    const SearchData& data = context.data();
    const auto& group = context.group();
    QueueRange level = visited;
    Index depth = data.state->depth;
    while (true) {
      const auto reached = static_cast<Index>(look(data.state->tail));
      group.sync();  // all lanes have read
      if (reached == level.end) break;
      level = {level.end, reached};
      ++depth;
      if (level.end - level.first > kNarrow) {
        if (group.rank() == 0) data.state->depth = depth;
        create<VisitLevel, SearchDelegate>(context, level, VisitLevel::least, level);
        return;
      }
      visit(group, *reinterpret_cast<EdgeScratch*>(context.shared()), data, level);
      group.sync();
    }
    const Index first = data.state->stage == SearchStage::whole ? 0 : level.first;
    group.sync();  // all lanes have read: the next search may begin
    if (group.rank() == 0) data.state->depth = depth;
    create<ChooseNode, SearchEnd>(context, {first, level.end}, ChooseNode::least, 0);
  }

 private:
  /// Cuts `positions` into tasks of type T, and creates the one that waits for them.
  template <class T, class Next, class Context>
  TASKDAG_TASK static void create(Context& context, const QueueRange& positions, std::int64_t least,
                                  const typename Next::Item& next) {
    const auto& group = context.group();
    group.sync();  // what lane 0 wrote is the tasks' to see
    const Share share(positions.end - positions.first, least);
    for (int task = group.rank(); task < share.tasks; task += group.size()) {
      context.template enqueue<T>({positions.first + share.begin(task), positions.first + share.end(task)});
    }
    if (group.rank() == 0) context.template enqueue_dependent<Next>(next, context.data().state->next, share.tasks);
  }
};

}  // namespace taskdag::kernels::rcm_tasks
