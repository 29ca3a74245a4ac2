#include "kernels/ordering/colouring/colour.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "backends/host/seam.hpp"
#include "kernels/ordering/colouring/first_fit.hpp"

namespace taskdag::kernels {
namespace {

constexpr Index kNone = -1;
constexpr Index kChunk = 64;

/// order[position] = vertex.
std::vector<Index> sorted_by_key(const CsrPattern& graph, const ColourOptions& options) {
  std::vector<Index> order(static_cast<std::size_t>(graph.rows));
  std::iota(order.begin(), order.end(), 0);
  if (options.order == ColourOrder::natural) return order;
  const auto key = [&](Index v) { return colour_key(options, v, graph.row_offsets[v + 1] - graph.row_offsets[v]); };
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return key(a) < key(b); });
  return order;
}

std::vector<Index> ranks_of(const std::vector<Index>& order) {
  std::vector<Index> rank(order.size());
  for (std::size_t position = 0; position < order.size(); ++position) {
    rank.data()[order[position]] = static_cast<Index>(position);
  }
  return rank;
}

Index count_colours(const std::vector<Index>& colour) {
  return colour.empty() ? 0 : *std::max_element(colour.begin(), colour.end()) + 1;
}

/// Colours all vertices in the order; a neighbour that comes later counts for nothing. `get`: a neighbour's colour.
template <class Get>
Index first_fit(const CsrPattern& graph, const Index* rank, Index v, const Get& get) {
  ColourWindow window;
  while (true) {
    for (Offset e = graph.row_offsets[v]; e < graph.row_offsets[v + 1]; ++e) {
      const Index neighbour = graph.col_indices[e];
      if (rank[neighbour] < rank[v]) window.add(get(neighbour));
    }
    if (window.has_free()) return window.first_free();
    window.advance();
  }
}

std::vector<Index> serial_in_order(const CsrPattern& graph, const std::vector<Index>& order) {
  const std::vector<Index> rank = ranks_of(order);
  std::vector<Index> colour(order.size(), kNone);
  for (const Index v : order) {
    colour.data()[v] = first_fit(graph, rank.data(), v, [&](Index u) { return colour.data()[u]; });
  }
  return colour;
}

/// Threads draw chunks of the order; who needs the colour of a vertex that is not coloured yet waits for it. It comes
/// before, so it has been drawn: the first vertex without a colour never waits.
std::vector<Index> threaded_in_order(const CsrPattern& graph, const std::vector<Index>& order, host::ThreadPool& pool) {
  const std::vector<Index> rank = ranks_of(order);
  std::vector<Index> colour(order.size(), kNone);
  // relaxed: a colour is its own flag, and nothing else is handed over.
  const auto get = [&](Index u) {
    const std::atomic_ref<Index> slot(colour.data()[u]);
    Index found = slot.load(std::memory_order_relaxed);
    host::Backoff backoff;
    for (; found == kNone; found = slot.load(std::memory_order_relaxed)) backoff.turn();
    return found;
  };
  host::TicketCounter tickets;
  pool.run(pool.processors(), [&](int) {
    Index first = 0;
    Index last = 0;
    while (tickets.take(graph.rows, kChunk, first, last)) {
      for (Index position = first; position < last; ++position) {
        const Index v = order.data()[position];
        std::atomic_ref<Index>(colour.data()[v])
            .store(first_fit(graph, rank.data(), v, get), std::memory_order_relaxed);
      }
    }
  });
  return colour;
}

template <class InOrder>
Colouring colour_with(const CsrPattern& graph, const ColourOptions& options, const InOrder& in_order) {
  Colouring result;
  result.colour = in_order(sorted_by_key(graph, options));
  result.colours = count_colours(result.colour);
  for (int round = 0; round < options.improvements; ++round) {
    const ColourClasses classes = colour_classes(result);
    std::vector<Index> order;
    order.reserve(classes.order.size());
    for (Index c = result.colours - 1; c >= 0; --c) {
      order.insert(order.end(), classes.order.begin() + classes.first.data()[c],
                   classes.order.begin() + classes.first.data()[c + 1]);
    }
    result.colour = in_order(order);
    result.colours = count_colours(result.colour);
  }
  return result;
}

}  // namespace

Colouring reference_colour(const CsrPattern& graph, const ColourOptions& options) {
  return colour_with(graph, options, [&](const std::vector<Index>& order) { return serial_in_order(graph, order); });
}

Colouring colour_in_order(const CsrPattern& graph, const std::vector<Index>& order) {
  Colouring result;
  result.colour = serial_in_order(graph, order);
  result.colours = count_colours(result.colour);
  return result;
}

Colouring colour_graph(const CsrPattern& graph, const ColourOptions& options, host::ThreadPool& pool) {
  if (pool.processors() == 1 || !pool.concurrent()) return reference_colour(graph, options);
  return colour_with(graph, options,
                     [&](const std::vector<Index>& order) { return threaded_in_order(graph, order, pool); });
}

ColourClasses colour_classes(const Colouring& colouring) {
  ColourClasses classes;
  classes.first.assign(static_cast<std::size_t>(colouring.colours) + 1, 0);
  for (const Index c : colouring.colour) ++classes.first.data()[c + 1];
  std::partial_sum(classes.first.begin(), classes.first.end(), classes.first.begin());
  std::vector<Index> next(classes.first);
  classes.order.resize(colouring.colour.size());
  for (std::size_t v = 0; v < colouring.colour.size(); ++v) {
    classes.order.data()[next.data()[colouring.colour[v]]++] = static_cast<Index>(v);
  }
  return classes;
}

std::int64_t colour_conflicts(const CsrPattern& graph, const std::vector<Index>& colour) {
  std::int64_t conflicts = 0;
  for (Index v = 0; v < graph.rows; ++v) {
    for (Offset e = graph.row_offsets[v]; e < graph.row_offsets[v + 1]; ++e) {
      const Index u = graph.col_indices[e];
      if (u != v && colour.data()[u] == colour.data()[v]) ++conflicts;
    }
  }
  return conflicts;
}

}  // namespace taskdag::kernels
