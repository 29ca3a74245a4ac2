/// \file
/// Tasks that walk along edges: a worker takes ranges of edges, looks at every edge, and collects the ranges that are
/// to be looked at next. What it collects it goes on with by itself for some rounds, as long as that is little; then it
/// hands it to the queue.
///
/// An Algorithm has:
/// - Data, with `graph`, `tally` and `rounds`; Item, with `first` and `last`: edges; name.
/// - Value begin(data, item): by one lane per range, before its edges are looked at or it is cut.
/// - Seen see(data, value, u): looks at a neighbour; several are looked at before any is settled, so that their
/// latencies
///   overlap.
/// - bool settle(data, value, u, seen, child): @returns whether `child` is to be walked along
/// - Item piece(item, value, first, last): a part of a range that is too long.
/// - where idle workers look for ranges: idles = true, and bool look(data, item), by one lane.
#pragma once

#include "papers/chen/colouring/atomics.hpp"
#include "papers/chen/colouring/view.hpp"
#include "studies/graph/tally.hpp"
#include "taskdag/engine/runner.hpp"

namespace taskdag::graph {

/// Some edges of a vertex.
struct EdgeRange {
  Index vertex;
  Offset first;
  Offset last;
};

template <class Algorithm, int Lanes, int Fetch>
struct RangeTask {
  using Item = typename Algorithm::Item;
  using Value = typename Algorithm::Value;
  static constexpr auto name = Algorithm::name;
  static constexpr engine::WorkerSize worker{Lanes};
  static constexpr int fetch = Fetch;
  static constexpr bool batched = true;
  static constexpr bool waits = false;
  static constexpr bool idles = [] {
    if constexpr (requires { Algorithm::idles; }) return Algorithm::idles;
    return false;
  }();
  static constexpr int kEdges = 64;       ///< of a range that is walked along; longer ones are cut into so many at most
  static constexpr int kOwn = 2 * Fetch;  ///< ranges that a worker goes on with by itself at most
  static constexpr int kFound = 4 * Fetch;  ///< ranges that it can hold; more go to the queue one by one
  static constexpr int kAtOnce = 4;         ///< edges that a lane looks at side by side
  static constexpr int max_children = kOwn / Fetch * kEdges;

  struct Memory {
    Item found[2][std::size_t{4} * Fetch];  ///< of this round and of the one before
    Value value[std::size_t{2} * Fetch];
    int count[3];  ///< found in this round; in the one before; 0 for the next
    int no_room;   ///< 1: some ranges did not fit
  };
  static constexpr std::size_t shared_bytes = sizeof(Memory);

  template <class Context>
  TASKDAG_TASK static bool idle(const Context& context, Item& item) {
    return context.group().rank() == 0 && Algorithm::look(context.data(), item);
  }

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, engine::Items<Item> items) {
    const auto& data = context.data();
    const auto& group = context.group();
    Memory& memory = *reinterpret_cast<Memory*>(context.shared());
    const Item* front = items.begin();
    int size = items.size();
    if (group.rank() == 0) {
      memory.count[0] = 0;
      memory.no_room = 0;
    }
    std::uint32_t edges = 0;
    for (int round = 0;; ++round) {
      if (group.rank() == 0) memory.count[(round + 1) % 3] = 0;
      for (int k = group.rank(); k < size; k += group.size()) memory.value[k] = Algorithm::begin(data, front[k]);
      group.sync();
      const Found found{memory.found[round % 2], &memory.count[round % 3]};
      edges += walk(context, data, memory, found, front, size);
      group.sync();
      front = found.items;
      size = *found.count < kFound ? *found.count : kFound;
      if (size == 0 || round + 1 >= data.rounds || size > kOwn || memory.no_room != 0) break;
    }
    context.template enqueue_all<RangeTask>(front, size);
    const std::uint32_t all = group.sum(edges);
    if (group.rank() == 0) data.tally.add(all);
  }

 private:
  /// What a round collects.
  struct Found {
    Item* items;
    int* count;
  };

  /// Lanes for each of `size` ranges: a power of two.
  template <class Group>
  TASKDAG_TASK static int lanes_for(const Group& group, int size) {
    int lanes = 1;
    while (lanes < 32 && 2 * lanes * size <= group.size()) lanes *= 2;
    return lanes;
  }

  /// @returns edges that the calling lane has looked at
  template <class Context, class Data>
  TASKDAG_TASK static std::uint32_t walk(Context& context, const Data& data, Memory& memory, const Found& found,
                                         const Item* front, int size) {
    const auto& group = context.group();
    const int lanes = lanes_for(group, size);
    const int lane = group.rank() % lanes;
    std::uint32_t edges = 0;
    for (int k = group.rank() / lanes; k < size; k += group.size() / lanes) {
      const Item item = front[k];
      if (item.last - item.first > kEdges) {
        cut(context, memory, found, item, memory.value[k], lane, lanes);
        continue;
      }
      const Value value = memory.value[k];
      for (Offset e = item.first + lane; e < item.last; e += kAtOnce * lanes) {
        Index u[kAtOnce]{};
        typename Algorithm::Seen seen[kAtOnce]{};
        const int many = (item.last - e + lanes - 1) / lanes < kAtOnce ? (item.last - e + lanes - 1) / lanes : kAtOnce;
        for (int j = 0; j < kAtOnce; ++j) {
          if (j < many) u[j] = data.graph.neighbours[e + j * lanes];
        }
        for (int j = 0; j < kAtOnce; ++j) {
          if (j < many) seen[j] = Algorithm::see(data, value, u[j]);
        }
        for (int j = 0; j < kAtOnce; ++j) {
          Item child;
          if (j < many && Algorithm::settle(data, value, u[j], seen[j], child)) keep(context, memory, found, child);
        }
        edges += static_cast<std::uint32_t>(many);
      }
    }
    return edges;
  }

  template <class Context>
  TASKDAG_TASK static void cut(Context& context, Memory& memory, const Found& found, const Item& item,
                               const Value& value, int lane, int lanes) {
    const Offset even = (item.last - item.first + kEdges - 1) / kEdges;
    const Offset piece = even > kEdges ? even : kEdges;
    for (int k = lane; k < kEdges; k += lanes) {
      const Offset first = item.first + k * piece;
      if (first >= item.last) break;
      const Offset last = item.last - first < piece ? item.last : first + piece;
      keep(context, memory, found, Algorithm::piece(item, value, first, last));
    }
  }

  /// relaxed: an element of the list of the worker, whose lanes meet before they are read.
  template <class Context>
  TASKDAG_TASK static void keep(Context& context, Memory& memory, const Found& found, const Item& item) {
    const int index = engine::AtomicRef<int>(*found.count).fetch_add(1, engine::relaxed);
    if (index < kFound) {
      found.items[index] = item;
    } else {
      engine::AtomicRef<int>(memory.no_room).store(1, engine::relaxed);
      context.template enqueue<RangeTask>(item);
    }
  }
};

}  // namespace taskdag::graph
