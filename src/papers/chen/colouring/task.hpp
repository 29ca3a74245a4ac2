/// \file
/// Greedy colouring that speculates, as tasks: vertices take the least colour that they see at no neighbour, and
/// a vertex in conflict with a neighbour that did the same at the same time takes another one. The colours
/// differ from run to run. Source: Chen et al. 2022 (Atos), algorithm 6; Gebremedhin & Manne 2000. An item v >= 0 is a
/// vertex to be coloured, −1 − v one to be checked (algorithm 6 of the paper tells them apart by the sign, too).
///
/// Of two neighbours that took one colour at the same time, one at least sees it: each takes its colour, passes a fence
/// and looks. The one that comes later is coloured again. The one that comes first is checked again a round later: if
/// the other one has not seen the conflict, it gives way itself. So no conflict stays, each item has one child at most,
/// and two neighbours do not give way to each other for ever.
#pragma once

#include "papers/chen/colouring/step.hpp"
#include "taskdag/engine/runner.hpp"

namespace taskdag::graph {

/// Tally: add(n) takes note of n colours that were given.
template <class Tally>
struct ColouringData {
  GraphView graph;
  Index* colour;  ///< kNoColour at first
  Tally tally;
  int rounds;  ///< of a task, before what remains goes back to the queue
};

template <int Lanes, int Fetch, class Tally>
struct Colour {
  using Item = Index;
  static constexpr auto name = "colour";
  static constexpr engine::WorkerSize worker{Lanes};
  static constexpr int fetch = Fetch;
  static constexpr bool batched = true;
  static constexpr bool waits = false;
  static constexpr int max_children = 1;

  struct Memory {
    ColourStep<Fetch> step;
    Index list[2][std::size_t{Fetch}];
    int count[3];
  };
  static constexpr std::size_t shared_bytes = sizeof(Memory);

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, engine::Items<Item> items) {
    const ColouringData<Tally>& data = context.data();
    const auto& group = context.group();
    Memory& memory = *reinterpret_cast<Memory*>(context.shared());
    const Index* front = items.begin();
    int size = items.size();
    std::uint32_t given = 0;
    if (group.rank() == 0) memory.count[0] = 0;
    for (int round = 0;; ++round) {
      if (group.rank() == 0) memory.count[(round + 1) % 3] = 0;
      given += memory.step.assign(group, data.graph, data.colour, size, [&](int k) { return front[k]; });
      full_fence();
      group.sync();
      memory.step.check(group, data.graph, data.colour, size,
                        [&](int k) { return front[k] >= 0 ? front[k] : -1 - front[k]; });
      Index* const next = memory.list[round % 2];
      int& count = memory.count[round % 3];
      for (int k = group.rank(); k < size; k += group.size()) {
        const int conflict = memory.step.conflict[k];
        if (conflict == 0) continue;
        const bool coloured = front[k] >= 0;
        const Index v = coloured ? front[k] : -1 - front[k];
        const bool gives_way = (conflict & kLoses) != 0 || !coloured;
        // relaxed: an element of the worker's own list.
        next[engine::AtomicRef<int>(count).fetch_add(1, engine::relaxed)] = gives_way ? v : -1 - v;
      }
      group.sync();
      front = next;
      size = count;
      if (size == 0 || round + 1 >= data.rounds) break;
    }
    context.template enqueue_all<Colour>(front, size);
    const std::uint32_t all = group.sum(given);
    if (group.rank() == 0) data.tally.add(all);
  }
};

}  // namespace taskdag::graph
