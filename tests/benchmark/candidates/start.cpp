#include "start.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "backends/host/thread_pool.hpp"
#include "base/index.hpp"
#include "kernels/ordering/rcm/host.hpp"
#include "kernels/ordering/rcm/host_walk.hpp"

namespace taskdag::benchmark {
namespace {

using kernels::EdgeOffset;
using kernels::GraphView;
using kernels::HostWalk;

/// A node, and the shape of the levels around it.
struct Root {
  Index node = 0;
  Index depth = 0;
  Index width = 0;  ///< nodes of the widest level
};

/// The orderings of one graph's components.
class Orderer {
 public:
  Orderer(const GraphView& graph, const StartRule& rule, StartCounts& counts)
      : graph_(graph),
        rule_(rule),
        counts_(counts),
        alone_(1),
        degree_(degrees(graph)),
        walk_({graph.nodes, graph.offsets, graph.neighbours, degree_.data()}, alone_, kernels::kNeighboursTogether),
        seen_in_(at(graph.nodes), 0),
        place_(at(graph.nodes), 0) {}

  std::vector<Index> run() {
    std::vector<Index> by_degree(at(graph_.nodes));
    std::iota(by_degree.begin(), by_degree.end(), Index{0});
    std::ranges::stable_sort(by_degree, {}, [this](Index node) { return degree_[at(node)]; });
    std::vector<std::pair<Index, std::vector<Index>>> components;  // with their least nodes
    for (const Index least : by_degree) {
      if (degree_[at(least)] == 0) {
        components.push_back({least, {least}});
      } else if (walk_.is_new(least)) {
        walk_.search(least);
        std::vector<Index> order = order_component(least);
        const Index first = *std::ranges::min_element(order);
        components.emplace_back(first, std::move(order));
      }
    }
    std::ranges::sort(components, {}, [](const auto& component) { return component.first; });
    std::vector<Index> order;
    order.reserve(at(graph_.nodes));
    for (const auto& [first, nodes] : components) order.insert(order.end(), nodes.begin(), nodes.end());
    std::ranges::reverse(order);
    return order;
  }

 private:
  static std::vector<Index> degrees(const GraphView& graph) {
    std::vector<Index> degree(at(graph.nodes));
    for (Index node = 0; node < graph.nodes; ++node) degree[at(node)] = graph.degree(node);
    return degree;
  }

  /// Leaves the nodes in queue_, the last level from last_level_ on.
  Root search(Index start) {
    Root root{.node = start};
    queue_.assign(1, start);
    seen_in_[at(start)] = ++round_;
    last_level_ = 0;
    for (;;) {
      const std::size_t end = queue_.size();
      root.width = std::max(root.width, static_cast<Index>(end - last_level_));
      for (std::size_t p = last_level_; p < end; ++p) {
        for (EdgeOffset e = graph_.begin(queue_[p]); e < graph_.end(queue_[p]); ++e) {
          const Index next = graph_.neighbours[e];
          if (seen_in_[at(next)] == round_) continue;
          seen_in_[at(next)] = round_;
          queue_.push_back(next);
        }
      }
      if (queue_.size() == end) break;
      last_level_ = end;
      ++root.depth;
    }
    ++counts_.searches;
    counts_.levels += root.depth + 1;
    counts_.visits += static_cast<std::int64_t>(queue_.size());
    return root;
  }

  /// Of the last search's last level.
  [[nodiscard]] std::vector<Index> candidates() const {
    std::vector<Index> level(queue_.begin() + static_cast<std::ptrdiff_t>(last_level_), queue_.end());
    std::ranges::sort(level, {}, [this](Index node) { return std::pair(degree_[at(node)], node); });
    if (rule_.pick == Pick::degrees) {
      const auto same = [this](Index left, Index right) { return degree_[at(left)] == degree_[at(right)]; };
      level.erase(std::unique(level.begin(), level.end(), same), level.end());
    }
    if (level.size() > at(rule_.candidates)) level.resize(at(rule_.candidates));
    return level;
  }

  /// Where the ordering may begin: candidates that are no deeper than the start, then the start.
  std::vector<Root> find_ends(Index least) {
    Root start = search(least);
    for (;;) {
      std::vector<Root> ends;
      bool deeper = false;
      for (const Index candidate : candidates()) {
        const Root root = search(candidate);
        deeper = root.depth > start.depth;
        if (deeper) {
          start = root;
          break;
        }
        ends.push_back(root);
      }
      if (deeper) continue;
      ends.push_back(start);
      return ends;
    }
  }

  std::vector<Index> order_from(Index start) {
    walk_.order(start);
    ++counts_.orderings;
    return {walk_.queue(), walk_.queue() + walk_.nodes()};
  }

  Index bandwidth(const std::vector<Index>& order) {
    for (std::size_t p = 0; p < order.size(); ++p) place_[at(order[p])] = static_cast<Index>(p);
    Index most = 0;
    for (const Index node : order) {
      for (EdgeOffset e = graph_.begin(node); e < graph_.end(node); ++e) {
        most = std::max(most, place_[at(graph_.neighbours[e])] - place_[at(node)]);
      }
    }
    return most;
  }

  /// @pre the walk's last search was of this component
  std::vector<Index> order_component(Index least) {
    const std::vector<Root> ends = find_ends(least);
    counts_.depth += ends.front().depth;
    if (rule_.begin == Begin::first) return order_from(ends.front().node);
    if (rule_.begin == Begin::narrowest) return order_from(std::ranges::min_element(ends, {}, &Root::width)->node);
    std::vector<Index> best = order_from(ends.front().node);
    Index least_bandwidth = bandwidth(best);
    for (std::size_t k = 1; k < ends.size(); ++k) {
      std::vector<Index> order = order_from(ends[k].node);
      const Index its = bandwidth(order);
      if (its >= least_bandwidth) continue;
      least_bandwidth = its;
      best = std::move(order);
    }
    return best;
  }

  const GraphView& graph_;
  const StartRule& rule_;
  StartCounts& counts_;
  host::ThreadPool alone_;
  std::vector<Index> degree_;
  HostWalk<EdgeOffset> walk_;
  std::vector<std::uint32_t> seen_in_;  ///< number of the search that saw a node last
  std::uint32_t round_ = 0;
  std::vector<Index> queue_;
  std::size_t last_level_ = 0;
  std::vector<Index> place_;
};

}  // namespace

const char* to_string(Pick pick) { return pick == Pick::least ? "least" : "degrees"; }

const char* to_string(Begin begin) {
  if (begin == Begin::first) return "first";
  return begin == Begin::narrowest ? "narrowest" : "least bandwidth";
}

std::vector<Index> order_from_candidates(const GraphView& graph, const StartRule& rule, StartCounts& counts) {
  return Orderer(graph, rule, counts).run();
}

}  // namespace taskdag::benchmark
