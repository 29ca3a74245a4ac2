#include "kernels/ordering/rcm/host.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "kernels/ordering/graph/adjacency.hpp"
#include "kernels/ordering/rcm/host_walk.hpp"

namespace taskdag::kernels {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point then) { return std::chrono::duration<double>(Clock::now() - then).count(); }

/// Nodes by degree, then index: counting sort.
template <class Edge>
std::vector<Index> nodes_by_degree(const Lists<Edge>& lists) {
  Index most = 0;
  for (Index node = 0; node < lists.nodes; ++node) most = std::max(most, lists.degree[node]);
  std::vector<Index> next(at(most) + 2, 0);
  for (Index node = 0; node < lists.nodes; ++node) ++next[at(lists.degree[node]) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Index> sorted(at(lists.nodes));
  for (Index node = 0; node < lists.nodes; ++node) sorted[at(next[at(lists.degree[node])]++)] = node;
  return sorted;
}

/// The search and the ordering of all components.
///
/// A breadth-first search from the least node (by degree, then index) of all that no search has met is one from the
/// least node of its component: so components are found by the very searches that they need. Each later walk starts
/// from the least node of the last level and is ordered at once: where it is no deeper than the walk before, its start
/// is the one that is sought, and the order is already there.
template <class Edge>
class HostOrderer {
 public:
  HostOrderer(const Lists<Edge>& lists, host::ThreadPool& pool, std::int64_t neighbours_together)
      : lists_(lists), walk_(lists, pool, neighbours_together) {}

  void run(Index* order, OrderingTimes& times) {
    const Clock::time_point begin = Clock::now();
    const Index first = least_with_neighbours();
    if (first < lists_.nodes) {
      times.ordering += order_component(first);
      if (walk_.nodes() == lists_.nodes) {
        std::reverse_copy(walk_.queue(), walk_.queue() + lists_.nodes, order);
      } else {
        times.ordering += order_others(order);
      }
    } else {
      std::iota(order, order + lists_.nodes, 0);
      std::reverse(order, order + lists_.nodes);
    }
    times.search = seconds_since(begin) - times.ordering;
  }

 private:
  [[nodiscard]] Index least_with_neighbours() const {
    Index best = lists_.nodes;
    for (Index node = 0; node < lists_.nodes; ++node) {
      if (lists_.degree[node] > 0 && (best == lists_.nodes || lists_.degree[node] < lists_.degree[best])) best = node;
    }
    return best;
  }

  /// Leaves the order in the walk's queue. @returns the seconds of the last walk
  double order_component(Index least) {
    walk_.search(least);
    for (;;) {
      const Index depth = walk_.depth();
      const Clock::time_point begin = Clock::now();
      walk_.order(walk_.least_of_last_level());
      if (walk_.depth() <= depth) return seconds_since(begin);
    }
  }

  /// With the first component in the walk's queue, orders the others, and puts all together. @returns the seconds of
  /// the last walks and of what follows
  double order_others(Index* order) {
    std::vector<Index> placed;  // components one after the other, as they are found
    placed.reserve(at(lists_.nodes));
    std::vector<Index> end_of(at(lists_.nodes), 0);  // least node of a component → its end in `placed`, else 0
    std::vector<Index> size_of(at(lists_.nodes), 0);
    const auto keep = [&] {
      const Index* const nodes = walk_.queue();
      const Index least = *std::min_element(nodes, nodes + walk_.nodes());
      placed.insert(placed.end(), nodes, nodes + walk_.nodes());
      end_of[at(least)] = static_cast<Index>(placed.size());
      size_of[at(least)] = walk_.nodes();
    };
    keep();
    double seconds = 0.0;
    for (const Index node : nodes_by_degree(lists_)) {
      if (lists_.degree[node] == 0 || !walk_.is_new(node)) continue;
      seconds += order_component(node);
      keep();
    }
    const Clock::time_point begin = Clock::now();
    Index* to = order + lists_.nodes;
    for (Index node = 0; node < lists_.nodes; ++node) {
      if (lists_.degree[node] == 0) *--to = node;
      const Index end = end_of[at(node)];
      for (Index p = end - size_of[at(node)]; p < end; ++p) *--to = placed[at(p)];
    }
    return seconds + seconds_since(begin);
  }

  Lists<Edge> lists_;
  HostWalk<Edge> walk_;
};

}  // namespace

void host_reverse_cuthill_mckee(const CsrPattern& a, host::ThreadPool& pool, Index* order, OrderingTimes* times,
                                std::int64_t neighbours_together) {
  OrderingTimes spent;
  if (a.rows > 0) {
    const Clock::time_point begin = Clock::now();
    std::vector<Index> degree(at(a.rows));
    if (find_degrees(a, pool, degree)) {
      spent.graph = seconds_since(begin);
      HostOrderer<Offset>({a.rows, a.row_offsets, a.col_indices, degree.data()}, pool, neighbours_together)
          .run(order, spent);
    } else {
      const HostGraph graph = symmetrised_graph(a, pool);
      const GraphView view = graph.view();
      for (Index node = 0; node < a.rows; ++node) degree[at(node)] = view.degree(node);
      spent.graph = seconds_since(begin);
      HostOrderer<EdgeOffset>({a.rows, view.offsets, view.neighbours, degree.data()}, pool, neighbours_together)
          .run(order, spent);
    }
  }
  if (times) *times = spent;
}

}  // namespace taskdag::kernels
