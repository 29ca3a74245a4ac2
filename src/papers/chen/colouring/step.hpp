/// \file
/// Colouring a few vertices by a group of lanes, and looking for conflicts: the same for tasks and for bulk synchronous
/// kernels, on both backends.
///
/// Colours are relaxed: each is its own message. Where a conflict must be seen for certain, the caller passes a
/// fence between assign() and check().
#pragma once

#include "kernels/ordering/colouring/colour.hpp"
#include "kernels/ordering/colouring/first_fit.hpp"
#include "papers/chen/colouring/atomics.hpp"
#include "papers/chen/colouring/view.hpp"

namespace taskdag::graph {
inline namespace TASKDAG_GRAPH_SIDE {

inline constexpr Index kNoColour = -1;

/// What a vertex has found out about itself.
enum Conflict : int {
  kLoses = 1,  ///< a neighbour that comes first has its colour
  kWins = 2,   ///< a neighbour that comes later has its colour
};

/// Which of two neighbours with the same colour keeps it.
TASKDAG_TASK inline bool comes_first(Index a, Index b) {
  return kernels::colour_hash(static_cast<std::uint32_t>(a), 0) <
         kernels::colour_hash(static_cast<std::uint32_t>(b), 0);
}

/// For up to Most vertices. Lives in memory that all lanes of the group see.
template <int Most>
struct ColourStep {
  std::uint64_t taken[std::size_t{Most}];
  Index base[std::size_t{Most}];
  int conflict[std::size_t{Most}];
  int open;
  /// Positions in the list of the vertices that the whole group works on.
  Index rest[std::size_t{Most}];
  int rests;

  /// Gives a colour to each vertex of a list that has none, or that is in conflict. vertex(k): the k-th, or −1 for
  /// none; k < size. Ends with sync(). @returns colours that the calling lane has given
  template <class Group, class Vertex>
  TASKDAG_TASK std::uint32_t assign(const Group& group, const GraphView& graph, Index* colour, int size,
                                    const Vertex& vertex) {
    std::uint32_t given = 0;
    for (int k = group.rank(); k < size; k += group.size()) {
      base[k] = vertex(k) < 0 ? kDone : 0;
      conflict[k] = 0;
    }
    while (true) {
      for (int k = group.rank(); k < size; k += group.size()) taken[k] = 0;
      if (group.rank() == 0) {
        open = 0;
        rests = 0;
      }
      group.sync();
      for_each(
          group, graph, size, [&](int k) { return base[k] == kDone ? Index{-1} : vertex(k); },
          [&](int k, Index v, Offset first, Offset last, int step) {
            const Index own = peek(colour[v]);
            kernels::ColourWindow window{base[k], 0};
            bool clash = own == kNoColour;
            for (Offset e = first; e < last; e += step) {
              const Index u = graph.neighbours[e];
              if (u == v) continue;
              const Index other = peek(colour[u]);
              clash = clash || other == own;
              window.add(other);
            }
            if (window.taken != 0) {
              engine::AtomicRef<std::uint64_t>(taken[k]).fetch_or(window.taken, engine::relaxed);
            }
            if (clash) engine::AtomicRef<int>(conflict[k]).store(1, engine::relaxed);
          });
      group.sync();
      for (int k = group.rank(); k < size; k += group.size()) {
        if (base[k] == kDone) continue;
        kernels::ColourWindow window{base[k], taken[k]};
        if (conflict[k] != 0 && (!window.has_free() || window.first_free() > graph.degree(vertex(k)))) {
          // The next window. A neighbour that changes its colour may have stood in two; no more colours than neighbours
          // are ever needed, so beyond them all is looked at anew.
          base[k] = base[k] + 64 > graph.degree(vertex(k)) ? 0 : base[k] + 64;
          engine::AtomicRef<int>(open).store(1, engine::relaxed);
          continue;
        }
        if (conflict[k] != 0) {
          engine::AtomicRef<Index>(colour[vertex(k)]).store(window.first_free(), engine::relaxed);
          ++given;
        }
        base[k] = kDone;
      }
      group.sync();
      const bool again = open != 0;
      group.sync();
      if (!again) return given;
    }
  }

  /// Sets conflict[k] for the vertices of a list. Ends with sync().
  template <class Group, class Vertex>
  TASKDAG_TASK void check(const Group& group, const GraphView& graph, const Index* colour, int size,
                          const Vertex& vertex) {
    for (int k = group.rank(); k < size; k += group.size()) conflict[k] = 0;
    if (group.rank() == 0) rests = 0;
    group.sync();
    for_each(group, graph, size, vertex, [&](int k, Index v, Offset first, Offset last, int step) {
      const Index own = peek(colour[v]);
      int found = 0;
      for (Offset e = first; e < last; e += step) {
        const Index u = graph.neighbours[e];
        if (u != v && peek(colour[u]) == own) found |= comes_first(u, v) ? kLoses : kWins;
      }
      if (found != 0) engine::AtomicRef<int>(conflict[k]).fetch_or(found, engine::relaxed);
    });
    group.sync();
  }

 private:
  static constexpr Index kDone = -1;
  static constexpr Offset kLong = 64;  ///< edges per lane, above which the whole group takes part

  /// body(k, vertex, first, last, step) for the edges first, first + step, … of each vertex, by as many lanes as there
  /// are for it. @pre rests is 0, and all lanes know
  template <class Group, class Vertex, class Body>
  TASKDAG_TASK void for_each(const Group& group, const GraphView& graph, int size, const Vertex& vertex,
                             const Body& body) {
    int lanes = 1;
    while (lanes < 32 && 2 * lanes * size <= group.size()) lanes *= 2;
    const int lane = group.rank() % lanes;
    for (int k = group.rank() / lanes; k < size; k += group.size() / lanes) {
      const Index v = vertex(k);
      if (v < 0) continue;
      if (is_long(group, graph, v, lanes)) {
        if (lane == 0) rest[engine::AtomicRef<int>(rests).fetch_add(1, engine::relaxed)] = k;
        continue;
      }
      body(k, v, graph.offsets[v] + lane, graph.offsets[v + 1], lanes);
    }
    if (lanes == group.size()) return;
    group.sync();
    for (int i = 0; i < rests; ++i) {
      const Index v = vertex(rest[i]);
      body(rest[i], v, graph.offsets[v] + group.rank(), graph.offsets[v + 1], group.size());
    }
  }
  template <class Group>
  TASKDAG_TASK static bool is_long(const Group& group, const GraphView& graph, Index v, int lanes) {
    return lanes < group.size() && graph.degree(v) > kLong * lanes;
  }
};

}  // namespace TASKDAG_GRAPH_SIDE
}  // namespace taskdag::graph
