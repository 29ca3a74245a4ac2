// Several candidates in the search of a start node: against the library's ordering, and on graphs worked out by hand.
#include "start.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

#include "backends/host/thread_pool.hpp"
#include "taskdag/generators.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag::benchmark {
namespace {

struct Ordered {
  std::vector<Index> order;
  StartCounts counts;
};

Ordered order(const CsrMatrix& a, const StartRule& rule) {
  host::ThreadPool alone(1);
  Ordered result;
  result.order = order_from_candidates(kernels::symmetrised_graph(a.pattern(), alone).view(), rule, result.counts);
  return result;
}

CsrMatrix graph_of(Index nodes, std::vector<std::pair<Index, Index>> edges) {
  for (std::size_t k = edges.size(); k-- > 0;) edges.emplace_back(edges[k].second, edges[k].first);
  std::ranges::sort(edges);
  CsrMatrix a{nodes, nodes, std::vector<Offset>(static_cast<std::size_t>(nodes) + 1, 0), {}, {}};
  for (const auto& [row, column] : edges) {
    a.col_indices.push_back(column);
    a.values.push_back(1.0);
    for (auto i = static_cast<std::size_t>(row) + 1; i < a.row_offsets.size(); ++i) ++a.row_offsets[i];
  }
  return a;
}

TEST(Candidates, OneGivesTheLibrarysOrder) {
  std::mt19937 random(3);
  for (int k = 0; k < 60; ++k) {
    const auto nodes = static_cast<Index>(1 + random() % 120);
    std::vector<std::pair<Index, Index>> edges;  // few enough for many components
    for (auto e = random() % 200; e > 0; --e) {
      const auto u = static_cast<Index>(random() % static_cast<unsigned>(nodes));
      const auto v = static_cast<Index>(random() % static_cast<unsigned>(nodes));
      if (u < v) edges.emplace_back(u, v);
    }
    std::ranges::sort(edges);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    const CsrMatrix a = graph_of(nodes, edges);
    EXPECT_EQ(order(a, {}).order, reverse_cuthill_mckee(a.pattern()));
  }
  const CsrMatrix grid = make_stencil({.stencil = Stencil::five_point, .nx = 13, .ny = 8});
  EXPECT_EQ(order(grid, {}).order, reverse_cuthill_mckee(grid.pattern()));
}

/// The search from node 0 is 2 deep and ends at nodes 2, 3 and 5, all of two neighbours but node 2: that of node 3 is 2
/// deep, too, that of node 5 is 3.
TEST(Candidates, ASecondOneMayBeDeeper) {
  const CsrMatrix a = graph_of(6, {{0, 1}, {0, 4}, {1, 2}, {1, 5}, {2, 3}, {2, 5}, {3, 4}});
  const Ordered one = order(a, {.candidates = 1});
  EXPECT_EQ(one.counts.depth, 2);
  EXPECT_EQ(one.counts.searches, 2);
  EXPECT_EQ(one.counts.visits, 12);
  EXPECT_EQ(one.counts.levels, 6);
  const Ordered two = order(a, {.candidates = 2});
  EXPECT_EQ(two.counts.depth, 3);
  EXPECT_NE(two.order, one.order);
}

/// A triangle 1, 3, 4 with nodes 0 and 2 hanging on node 1. All searches from its ends are 2 deep; that from node 2 has
/// a level of three nodes, those from 3 and 4 have levels of two.
TEST(Candidates, BeginsAtTheNarrowest) {
  const CsrMatrix a = graph_of(5, {{0, 1}, {1, 2}, {1, 3}, {1, 4}, {3, 4}});
  EXPECT_EQ(order(a, {.candidates = 3}).order.back(), 2);
  const Ordered narrow = order(a, {.candidates = 3, .begin = Begin::narrowest});
  EXPECT_EQ(narrow.order, (std::vector<Index>{2, 0, 1, 4, 3}));
  EXPECT_EQ(narrow.counts.searches, 4);
  EXPECT_EQ(order(a, {.candidates = 3, .pick = Pick::degrees, .begin = Begin::narrowest}).counts.searches, 3);
  EXPECT_EQ(order(a, {.candidates = 1, .begin = Begin::narrowest}).order.back(), 2);
}

TEST(Candidates, TheLeastBandwidthIsNoLargerThanOfAnyEnd) {
  std::mt19937 random(5);
  int smaller = 0;
  for (int k = 0; k < 40; ++k) {
    std::vector<std::pair<Index, Index>> edges;  // a tree: connected
    for (Index node = 1; node < 40; ++node)
      edges.emplace_back(static_cast<Index>(random() % static_cast<unsigned>(node)), node);
    const CsrMatrix a = graph_of(40, edges);
    const Ordered best = order(a, {.candidates = 4, .begin = Begin::least_bandwidth});
    const Index bandwidth = ordering_quality(a.pattern(), best.order).bandwidth;
    for (const Begin begin : {Begin::first, Begin::narrowest}) {
      const Index other = ordering_quality(a.pattern(), order(a, {.candidates = 4, .begin = begin}).order).bandwidth;
      EXPECT_LE(bandwidth, other);
      smaller += bandwidth < other ? 1 : 0;
    }
  }
  EXPECT_GT(smaller, 0);
}

}  // namespace
}  // namespace taskdag::benchmark
