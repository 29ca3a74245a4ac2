// Reverse Cuthill-McKee: a hand-worked graph, properties, and a naive implementation as the oracle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "kernels/ordering/graph/adjacency.hpp"
#include "kernels/ordering/rcm/host.hpp"
#include "support/matrices.hpp"
#include "taskdag/error.hpp"
#include "taskdag/generators.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag {
namespace {

using testing::ElementsAre;
using Edges = std::set<std::pair<Index, Index>>;  // entries (row, column)

CsrMatrix from_edges(Index n, const Edges& edges) {
  CsrMatrix a;
  a.rows = a.cols = n;
  a.row_offsets.assign(static_cast<std::size_t>(n) + 1, 0);
  for (const auto& [row, column] : edges) {
    ++a.row_offsets.at(static_cast<std::size_t>(row) + 1);
    a.col_indices.push_back(column);
  }
  std::partial_sum(a.row_offsets.begin(), a.row_offsets.end(), a.row_offsets.begin());
  a.values.assign(a.col_indices.size(), 1.0);
  return a;
}

std::vector<Index> rcm(Index n, const Edges& edges) { return reverse_cuthill_mckee(from_edges(n, edges).pattern()); }

std::vector<Index> shuffled(Index n, unsigned seed) {
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(seed);
  for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random() % k]);
  return order;
}

CsrMatrix permuted(const CsrMatrix& a, const std::vector<Index>& order) {
  const std::vector<Index> inverse = invert_permutation(order);
  Edges edges;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.pattern().row_offsets[i]; e < a.pattern().row_offsets[i + 1]; ++e) {
      edges.emplace(inverse.data()[i], inverse.data()[a.pattern().col_indices[e]]);
    }
  }
  return from_edges(a.rows, edges);
}

/// The definition of ordering.hpp on adjacency sets, with all distances of each search kept in a map-like array.
class Naive {
 public:
  Naive(Index n, const Edges& edges) : adjacency_(static_cast<std::size_t>(n)) {
    for (const auto& [row, column] : edges) {
      if (row == column) continue;
      adjacency_.at(static_cast<std::size_t>(row)).insert(column);
      adjacency_.at(static_cast<std::size_t>(column)).insert(row);
    }
  }

  std::vector<Index> order() const {
    std::vector<Index> result;
    const auto n = static_cast<Index>(adjacency_.size());
    for (Index row = 0; row < n; ++row) {
      if (std::find(result.begin(), result.end(), row) != result.end()) continue;
      const std::vector<Index> component = cuthill_mckee(peripheral(row));
      result.insert(result.end(), component.begin(), component.end());
    }
    return {result.rbegin(), result.rend()};
  }

 private:
  const std::set<Index>& neighbours(Index node) const { return adjacency_.at(static_cast<std::size_t>(node)); }
  bool before(Index a, Index b) const {
    return std::pair(neighbours(a).size(), a) < std::pair(neighbours(b).size(), b);
  }
  Index least(const std::set<Index>& nodes) const {
    return *std::min_element(nodes.begin(), nodes.end(), [this](Index a, Index b) { return before(a, b); });
  }
  std::vector<std::set<Index>> levels(Index start) const {
    std::vector<std::set<Index>> result = {{start}};
    std::set<Index> seen = {start};
    for (;;) {
      std::set<Index> next;
      for (const Index node : result.back()) {
        for (const Index other : neighbours(node)) {
          if (seen.insert(other).second) next.insert(other);
        }
      }
      if (next.empty()) return result;
      result.push_back(next);
    }
  }
  Index peripheral(Index row) const {
    std::set<Index> component;
    for (const auto& level : levels(row)) component.insert(level.begin(), level.end());
    Index node = least(component);
    for (;;) {
      const auto here = levels(node);
      const Index far = least(here.back());
      if (levels(far).size() <= here.size()) return far;
      node = far;
    }
  }
  std::vector<Index> cuthill_mckee(Index start) const {
    std::vector<Index> order = {start};
    for (std::size_t k = 0; k < order.size(); ++k) {
      std::vector<Index> next(neighbours(order[k]).begin(), neighbours(order[k]).end());
      std::sort(next.begin(), next.end(), [this](Index a, Index b) { return before(a, b); });
      for (const Index node : next) {
        if (std::find(order.begin(), order.end(), node) == order.end()) order.push_back(node);
      }
    }
    return order;
  }

  std::vector<std::set<Index>> adjacency_;
};

// A path 3 - 0 - 4 - 1 - 2. Least degree: 2 and 3, node 2 first; its last level is {3}, as far away, so 3 starts:
// 3 0 4 1 2, reversed.
TEST(RcmTest, PathIsWalkedFromItsFarEnd) {
  EXPECT_THAT(rcm(5, {{3, 0}, {0, 4}, {4, 1}, {1, 2}}), ElementsAre(2, 1, 4, 0, 3));
}

// A star with centre 2 and a tail: leaves 0, 1, 3 and the chain 2 - 4 - 5. Degrees: 2 has 4, 4 has 2, the others 1.
// Least degree: 0. Levels of 0: {2}, {1, 3, 4}, {5}; 5 has the same eccentricity 3 and starts: 5, 4, 2, then the leaves
// 0, 1, 3 by index.
TEST(RcmTest, HandWorkedStarWithTail) {
  EXPECT_THAT(rcm(6, {{2, 0}, {2, 1}, {2, 3}, {2, 4}, {4, 5}}), ElementsAre(3, 1, 0, 2, 4, 5));
}

// 0 is joined to 1, 2, 3; 2 and 3 lead on to 4 by 2 - 4 and 3 - 4; 0 hangs on 5. Start: the degree-1 nodes are 1 and 5;
// 1 comes first, its last level is {4} of degree 2, eccentricity 3; 4 starts: its neighbours 2 and 3 tie in degree (2)
// and come by index, then 0, then 1 and 5 tie in degree (1) and come by index.
TEST(RcmTest, TiesAreBrokenByIndex) {
  EXPECT_THAT(rcm(6, {{0, 1}, {0, 2}, {0, 3}, {2, 4}, {3, 4}, {0, 5}}), ElementsAre(5, 1, 0, 3, 2, 4));
}

// A triangle 2 - 0 - 1 - 2 with a tail 0 - 3 and double tail 1 - 4 - 5: from 5 the neighbours of 1 are 2 (degree 2) and
// 0 (degree 3): degree goes before index.
TEST(RcmTest, NeighboursComeByDegreeBeforeIndex) {
  EXPECT_THAT(rcm(6, {{2, 0}, {0, 1}, {1, 2}, {0, 3}, {1, 4}, {4, 5}}), ElementsAre(3, 0, 2, 1, 4, 5));
}

TEST(RcmTest, ComponentsComeInTheOrderOfTheirSmallestRow) {
  // Components {0, 3}, {1}, {2, 4}; each starts at its far end from the least node, the whole is reversed.
  EXPECT_THAT(rcm(5, {{0, 3}, {2, 4}}), ElementsAre(2, 4, 1, 0, 3));
}

TEST(RcmTest, LoopsAndDirectionsDoNotMatter) {
  const Edges one_way = {{0, 3}, {1, 3}, {4, 1}, {2, 0}};
  Edges both_ways = one_way;
  for (const auto& [row, column] : one_way) both_ways.emplace(column, row);
  for (Index i = 0; i < 5; i += 2) both_ways.emplace(i, i);
  EXPECT_EQ(rcm(5, one_way), rcm(5, both_ways));
}

TEST(RcmTest, EmptyAndDiagonalMatrices) {
  EXPECT_TRUE(rcm(0, {}).empty());
  EXPECT_TRUE(reverse_cuthill_mckee(CsrPattern{}).empty());
  EXPECT_THAT(rcm(3, {}), ElementsAre(2, 1, 0));
  EXPECT_THAT(rcm(2, {{0, 0}, {1, 1}}), ElementsAre(1, 0));
}

TEST(RcmTest, AgreesWithTheNaiveImplementationOnRandomGraphs) {
  std::mt19937 random(19);
  for (int round = 0; round < 400; ++round) {
    const Index n = 1 + static_cast<Index>(random() % 40);
    Edges edges;
    for (auto left = random() % (3 * static_cast<unsigned>(n)); left > 0; --left) {
      edges.emplace(static_cast<Index>(random() % static_cast<unsigned>(n)),
                    static_cast<Index>(random() % static_cast<unsigned>(n)));
    }
    ASSERT_EQ(rcm(n, edges), Naive(n, edges).order()) << "round " << round;
  }
}

TEST(RcmTest, RestoresTheBandOfAShuffledGrid) {
  const CsrMatrix grid = make_stencil({.nx = 20, .ny = 60});
  const CsrMatrix mixed = permuted(grid, shuffled(grid.rows, 5));
  const OrderingQuality before = ordering_quality(mixed.pattern());
  const OrderingQuality after = ordering_quality(mixed.pattern(), reverse_cuthill_mckee(mixed.pattern()));
  EXPECT_GT(before.bandwidth, 1000);
  EXPECT_LE(after.bandwidth, 21);
  EXPECT_LE(after.profile, ordering_quality(grid.pattern()).profile + 20);
}

TEST(RcmTest, LongPathNeedsNoStack) {
  const Index n = 1000000;
  Edges edges;
  for (Index i = 0; i + 1 < n; ++i) edges.emplace_hint(edges.end(), i, i + 1);
  const std::vector<Index> order = rcm(n, edges);
  for (Index i = 0; i < n; ++i) ASSERT_EQ(order.data()[i], i);
}

TEST(RcmTest, BundledMatricesGetAPermutationOfSmallerBandwidth) {
  for (const std::string& name : test::bundled_matrices()) {
    SCOPED_TRACE(name);
    const CsrMatrix a = test::load_bundled(name);
    const std::vector<Index> order = reverse_cuthill_mckee(a.pattern());
    ASSERT_NO_THROW(invert_permutation(order));
    ASSERT_EQ(std::ssize(order), a.rows);
    const CsrMatrix mixed = permuted(a, shuffled(a.rows, 1));
    EXPECT_LT(ordering_quality(mixed.pattern(), reverse_cuthill_mckee(mixed.pattern())).bandwidth,
              ordering_quality(mixed.pattern()).bandwidth);
  }
}

TEST(RcmTest, RefusesPatternsThatAreNotSquareOrNotValid) {
  CsrMatrix a = from_edges(3, {{0, 1}, {2, 2}});
  a.cols = 4;
  EXPECT_THROW(reverse_cuthill_mckee(a.pattern()), InvalidInput);
  a.cols = 3;
  a.col_indices = {1, 3};
  EXPECT_THROW(reverse_cuthill_mckee(a.pattern()), InvalidInput);
}

TEST(SymmetrisedGraphTest, HoldsEveryEdgeBothWaysAndNoLoop) {
  std::mt19937 random(31);
  for (int round = 0; round < 200; ++round) {
    const Index n = 1 + static_cast<Index>(random() % 50);
    Edges edges;
    Edges expected;
    for (auto left = random() % (4 * static_cast<unsigned>(n)); left > 0; --left) {
      const auto row = static_cast<Index>(random() % static_cast<unsigned>(n));
      const auto column = static_cast<Index>(random() % static_cast<unsigned>(n));
      edges.emplace(row, column);
      if (round % 2 == 0) edges.emplace(column, row);
    }
    bool symmetric = true;
    for (const auto& [row, column] : edges) {
      symmetric = symmetric && edges.contains({column, row});
      if (row == column) continue;
      expected.emplace(row, column);
      expected.emplace(column, row);
    }
    const CsrMatrix a = from_edges(n, edges);
    host::ThreadPool pool(1 + round % 3);
    EXPECT_EQ(kernels::has_symmetric_pattern(a.pattern(), pool), symmetric) << "round " << round;
    const kernels::HostGraph graph = kernels::symmetrised_graph(a.pattern(), pool);
    const CsrMatrix wanted = from_edges(n, expected);
    EXPECT_EQ(graph.neighbours, wanted.col_indices) << "round " << round;
    EXPECT_TRUE(
        std::equal(graph.offsets.begin(), graph.offsets.end(), wanted.row_offsets.begin(), wanted.row_offsets.end()))
        << "round " << round;
  }
}

// As many entries above the diagonal as below, but not the same ones.
TEST(SymmetrisedGraphTest, EqualCountsAreNotSymmetry) {
  host::ThreadPool pool(1);
  EXPECT_FALSE(kernels::has_symmetric_pattern(from_edges(4, {{0, 1}, {2, 0}}).pattern(), pool));
  EXPECT_FALSE(kernels::has_symmetric_pattern(from_edges(4, {{0, 1}, {1, 0}, {3, 2}}).pattern(), pool));
  EXPECT_TRUE(kernels::has_symmetric_pattern(from_edges(4, {{0, 1}, {1, 0}, {3, 3}}).pattern(), pool));
}

TEST(HostRcmTest, AgreesWithTheNaiveImplementationOnRandomGraphs) {
  std::mt19937 random(37);
  for (int round = 0; round < 400; ++round) {
    const Index n = 1 + static_cast<Index>(random() % 40);
    Edges edges;
    for (auto left = random() % (3 * static_cast<unsigned>(n)); left > 0; --left) {
      edges.emplace(static_cast<Index>(random() % static_cast<unsigned>(n)),
                    static_cast<Index>(random() % static_cast<unsigned>(n)));
    }
    host::ThreadPool pool(1 + round % 3);
    std::vector<Index> order(static_cast<std::size_t>(n));
    // Every other round, threads walk together from the first level on.
    kernels::host_reverse_cuthill_mckee(from_edges(n, edges).pattern(), pool, order.data(), nullptr,
                                        round % 2 == 0 ? 1 : kernels::kNeighboursTogether);
    ASSERT_EQ(order, Naive(n, edges).order()) << "round " << round;
  }
}

TEST(HostRcmTest, ThreadsThatWalkTogetherAgreeWithSerial) {
  for (const CsrMatrix& a : {permuted(make_stencil({.nx = 60, .ny = 70}), shuffled(4200, 3)),
                             make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 17, .ny = 16, .nz = 15}),
                             make_rmat({.scale = 11, .edges_per_vertex = 6})}) {
    const std::vector<Index> expected = reverse_cuthill_mckee(a.pattern());
    for (const int threads : {2, 3, 5}) {
      host::ThreadPool pool(threads);
      for (const std::int64_t together : {1, 500, 5000}) {
        std::vector<Index> order(expected.size());
        kernels::host_reverse_cuthill_mckee(a.pattern(), pool, order.data(), nullptr, together);
        EXPECT_EQ(order, expected) << threads << " threads, from " << together << " neighbours";
      }
    }
  }
}

TEST(OrderingQualityTest, IsTheDefinition) {
  // Rows 0: {0, 3}, 1: {1}, 2: {0, 2}, 3: {}.
  const CsrMatrix a = from_edges(4, {{0, 0}, {0, 3}, {1, 1}, {2, 0}, {2, 2}});
  const OrderingQuality natural = ordering_quality(a.pattern());
  EXPECT_EQ(natural.bandwidth, 3);
  EXPECT_EQ(natural.profile, 2);
  // New numbers: 3 → 0, 0 → 1, 2 → 2, 1 → 3. Entries (1, 1), (1, 0), (3, 3), (2, 1), (2, 2).
  const OrderingQuality reordered = ordering_quality(a.pattern(), std::vector<Index>{3, 0, 2, 1});
  EXPECT_EQ(reordered.bandwidth, 1);
  EXPECT_EQ(reordered.profile, 2);
  EXPECT_THROW(ordering_quality(a.pattern(), std::vector<Index>{0, 1, 2}), InvalidInput);
  EXPECT_THROW(ordering_quality(a.pattern(), std::vector<Index>{0, 1, 2, 2}), InvalidInput);
}

TEST(OrderingQualityTest, MatchesTheRenumberedMatrix) {
  const CsrMatrix grid = make_stencil({.nx = 7, .ny = 9, .wind = 1.0});
  const std::vector<Index> order = shuffled(grid.rows, 9);
  const OrderingQuality renumbered = ordering_quality(permuted(grid, order).pattern());
  const OrderingQuality ordered = ordering_quality(grid.pattern(), order);
  EXPECT_EQ(ordered.bandwidth, renumbered.bandwidth);
  EXPECT_EQ(ordered.profile, renumbered.profile);
}

TEST(InvertPermutationTest, IsTheInverse) {
  EXPECT_THAT(invert_permutation(std::vector<Index>{2, 0, 3, 1}), ElementsAre(1, 3, 0, 2));
  EXPECT_TRUE(invert_permutation({}).empty());
}

TEST(InvertPermutationTest, NamesWhatIsWrong) {
  const auto message = [](const std::vector<Index>& order) -> std::string {
    try {
      invert_permutation(order);
      return "accepted";
    } catch (const InvalidInput& error) {
      return error.what();
    }
  };
  EXPECT_EQ(message({0, 2, 2}), "not a permutation: positions 1 and 2 both hold 2");
  EXPECT_EQ(message({0, 3, 1}), "not a permutation: position 1 holds 3, outside 0 … 2");
  EXPECT_EQ(message({-1}), "not a permutation: position 0 holds -1, outside 0 … 0");
}

}  // namespace
}  // namespace taskdag
