/// \file
/// VisitLevel: a part of a level of the breadth-first search.
#pragma once

#include "papers/pichler/rcm/atomics.hpp"
#include "papers/pichler/rcm/edges.hpp"
#include "papers/pichler/rcm/search/types.hpp"

namespace taskdag::kernels::rcm_tasks {

/// Puts the neighbours that the search has not reached yet into its queue. Reached by all lanes.
template <class Group>
TASKDAG_TASK void visit(const Group& group, EdgeScratch& scratch, const SearchData& data, const QueueRange& nodes) {
  const std::uint32_t seen = data.state->seen;
  for_each_edge(
      group, scratch, data.graph, nodes.first, nodes.end, [&](Index position) { return data.queue[position]; },
      [&](Index /*position*/, Index node) {
        std::uint32_t old = look(data.seen[node]);
        if (old == seen) return;
        // relaxed: who comes first is all that counts.
        engine::AtomicRef<std::uint32_t> mark(data.seen[node]);
        if (!mark.compare_exchange_strong(old, seen, engine::relaxed, engine::relaxed)) return;
        data.queue[append(data.state->tail)] = node;
      });
}

struct VisitLevel {
  using Item = QueueRange;
  static constexpr auto name = "visit level";
  static constexpr engine::WorkerSize worker = kWorker;
  static constexpr std::size_t shared_bytes = sizeof(EdgeScratch);
  static constexpr int max_children = 1;
  static constexpr bool waits = false;
  using Creates = engine::Types<SearchDelegate>;

  static constexpr std::int64_t least = 64;  ///< nodes of a task

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& nodes) {
    visit(context.group(), *reinterpret_cast<EdgeScratch*>(context.shared()), context.data(), nodes);
    context.group().sync();
    if (context.group().rank() == 0) context.template reduce<SearchDelegate>(context.data().state->next);
  }
};

}  // namespace taskdag::kernels::rcm_tasks
