/// \file
/// The four task types of the start-node search and their items, so that they can name each other.
#pragma once

#include "papers/pichler/rcm/search/data.hpp"
#include "papers/pichler/rcm/share.hpp"
#include "taskdag/engine/phase.hpp"

namespace taskdag::kernels::rcm_tasks {

struct NextComponent;
struct VisitLevel;
struct SearchDelegate;
struct ChooseNode;
struct SearchEnd;

/// Positions [first, end) of the search's queue.
struct QueueRange {
  Index first;
  Index end;
};

/// One task for the whole of a worker: begins the breadth-first search from `source`. By rank 0; creates one task.
template <class Context>
TASKDAG_TASK void begin_search(Context& context, Index source, SearchStage stage) {
  const SearchData& data = context.data();
  SearchState& state = *data.state;
  state.source = source;
  state.stage = stage;
  state.seen += 1;
  state.tail = 1;
  state.depth = -1;
  state.least = 0xFFFFFFFFU;
  state.searches += 1;
  data.seen[source] = state.seen;
  data.queue[0] = source;
  context.template enqueue<SearchDelegate>({0, 0});
}

}  // namespace taskdag::kernels::rcm_tasks
