/// \file
/// Reverse Cuthill-McKee, serial: the reference.
#include <algorithm>
#include <cstddef>
#include <string>

#include "backends/host/thread_pool.hpp"
#include "base/memory_errors.hpp"
#include "kernels/ordering/graph/adjacency.hpp"
#include "taskdag/error.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag {
namespace {

using kernels::GraphView;

/// Breadth-first searches on one graph that share their memory.
class Search {
 public:
  explicit Search(const GraphView& graph) : graph_(graph), seen_in_(static_cast<std::size_t>(graph.nodes), 0) {
    queue_.reserve(static_cast<std::size_t>(graph.nodes));
  }

  /// Visits the component of `start`. @returns the eccentricity of `start`.
  Index run(Index start) {
    ++round_;
    queue_.clear();
    visit(start);
    Index depth = 0;
    for (last_level_ = 0;;) {
      const std::size_t level_end = queue_.size();
      for (std::size_t position = last_level_; position < level_end; ++position) {
        const Index node = queue_[position];
        for (std::int64_t e = graph_.begin(node); e < graph_.end(node); ++e) {
          const Index next = graph_.neighbours[e];
          if (seen_in_.data()[next] != round_) visit(next);
        }
      }
      if (queue_.size() == level_end) return depth;
      last_level_ = level_end;
      ++depth;
    }
  }

  /// Of the nodes of the last search, from the first or from the start of the last level: least degree, then index.
  [[nodiscard]] Index least_degree_of_all() const { return least_degree_from(0); }
  [[nodiscard]] Index least_degree_of_last_level() const { return least_degree_from(last_level_); }

 private:
  void visit(Index node) {
    seen_in_.data()[node] = round_;
    queue_.push_back(node);
  }
  [[nodiscard]] Index least_degree_from(std::size_t first) const {
    Index best = queue_[first];
    for (std::size_t position = first + 1; position < queue_.size(); ++position) {
      const Index node = queue_[position];
      const Index gain = graph_.degree(best) - graph_.degree(node);
      if (gain > 0 || (gain == 0 && node < best)) best = node;
    }
    return best;
  }

  const GraphView& graph_;
  std::vector<std::uint32_t> seen_in_;  ///< number of the search that saw the node last
  std::uint32_t round_ = 0;             ///< 32 bits: a component of two nodes or more takes three searches
  std::vector<Index> queue_;
  std::size_t last_level_ = 0;
};

/// George & Liu's end node: the one whose search no longer went deeper than the search before.
Index pseudo_peripheral_node(Search& search, Index any_node) {
  search.run(any_node);
  Index eccentricity = search.run(search.least_degree_of_all());
  for (;;) {
    const Index candidate = search.least_degree_of_last_level();
    const Index reached = search.run(candidate);
    if (reached <= eccentricity) return candidate;
    eccentricity = reached;
  }
}

/// Appends the component of `start` to `order`, neighbours by ascending degree, then index.
void append_cuthill_mckee(const GraphView& graph, Index start, std::vector<char>& placed, std::vector<Index>& order) {
  std::size_t position = order.size();
  placed.data()[start] = 1;
  order.push_back(start);
  for (; position < order.size(); ++position) {
    const Index node = order[position];
    const auto first = static_cast<std::ptrdiff_t>(order.size());
    for (std::int64_t e = graph.begin(node); e < graph.end(node); ++e) {
      const Index next = graph.neighbours[e];
      if (placed.data()[next] != 0) continue;
      placed.data()[next] = 1;
      order.push_back(next);
    }
    std::sort(order.begin() + first, order.end(), [&graph](Index left, Index right) {
      const Index difference = graph.degree(left) - graph.degree(right);
      return difference < 0 || (difference == 0 && left < right);
    });
  }
}

std::vector<Index> order_of(const CsrPattern& pattern) {
  host::ThreadPool alone(1);
  const kernels::HostGraph lists = kernels::symmetrised_graph(pattern, alone);
  const GraphView graph = lists.view();
  Search search(graph);
  std::vector<char> placed(static_cast<std::size_t>(graph.nodes), 0);
  std::vector<Index> order;
  order.reserve(placed.size());
  for (Index node = 0; node < graph.nodes; ++node) {
    if (placed.data()[node] != 0) continue;
    const Index start = graph.degree(node) == 0 ? node : pseudo_peripheral_node(search, node);
    append_cuthill_mckee(graph, start, placed, order);
  }
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace

std::vector<Index> reverse_cuthill_mckee(const CsrPattern& pattern) {
  validate(pattern, {.square = true});
  return with_memory_errors("an ordering", pattern.rows, [&] { return order_of(pattern); });
}

OrderingQuality ordering_quality(const CsrPattern& pattern, std::span<const Index> order) {
  validate(pattern, {.square = true});
  if (!order.empty() && std::ssize(order) != pattern.rows) {
    throw InvalidInput("an order of " + std::to_string(order.size()) + " rows was given for a matrix of " +
                       std::to_string(pattern.rows));
  }
  const std::vector<Index> inverse = invert_permutation(order);
  OrderingQuality quality;
  for (Index row = 0; row < pattern.rows; ++row) {
    const Index i = order.empty() ? row : inverse.data()[row];
    Index smallest = i;
    for (Offset e = pattern.row_offsets[row]; e < pattern.row_offsets[row + 1]; ++e) {
      const Index column = pattern.col_indices[e];
      const Index j = order.empty() ? column : inverse.data()[column];
      smallest = std::min(smallest, j);
      quality.bandwidth = std::max(quality.bandwidth, i < j ? j - i : i - j);
    }
    quality.profile += i - smallest;
  }
  return quality;
}

std::vector<Index> invert_permutation(std::span<const Index> order) {
  std::vector<Index> inverse = with_memory_errors("a permutation", static_cast<Index>(order.size()),
                                                  [&] { return std::vector<Index>(order.size(), -1); });
  for (std::size_t position = 0; position < order.size(); ++position) {
    const Index value = order[position];
    if (value < 0 || static_cast<std::size_t>(value) >= order.size()) {
      throw InvalidInput("not a permutation: position " + std::to_string(position) + " holds " + std::to_string(value) +
                         ", outside 0 … " + std::to_string(order.size() - 1));
    }
    Index& slot = inverse.data()[value];
    if (slot >= 0) {
      throw InvalidInput("not a permutation: positions " + std::to_string(slot) + " and " + std::to_string(position) +
                         " both hold " + std::to_string(value));
    }
    slot = static_cast<Index>(position);
  }
  return inverse;
}

}  // namespace taskdag
