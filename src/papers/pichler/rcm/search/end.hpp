/// \file
/// SearchEnd: a breadth-first search is over.
#pragma once

#include "papers/pichler/rcm/search/types.hpp"

namespace taskdag::kernels::rcm_tasks {

/// Begins the next search, or has found the node whose search went no deeper than the one before.
struct SearchEnd {
  using Item = int;  // nothing
  static constexpr auto name = "search end";
  static constexpr engine::WorkerSize worker = kWorker;
  static constexpr int max_children = 1;
  using Creates = engine::Types<SearchDelegate>;

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& /*nothing*/) {
    if (context.group().rank() != 0) return;
    const SearchData& data = context.data();
    SearchState& state = *data.state;
    const Index chosen = data.by_rank[state.least];
    switch (state.stage) {
      case SearchStage::whole:
        begin_search(context, chosen, SearchStage::least);
        break;
      case SearchStage::least:
        state.eccentricity = state.depth;
        begin_search(context, chosen, SearchStage::candidate);
        break;
      case SearchStage::candidate:
        if (state.depth <= state.eccentricity) {
          state.start = state.source;
        } else {
          state.eccentricity = state.depth;
          begin_search(context, chosen, SearchStage::candidate);
        }
        break;
    }
  }
};

}  // namespace taskdag::kernels::rcm_tasks
