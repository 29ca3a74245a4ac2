/// The graphs that the graph benchmark makes.
#include "graphs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "studies/graph/bfs/bfs.hpp"
#include "taskdag/error.hpp"
#include "taskdag/generators.hpp"

namespace taskdag::benchmark {
namespace {

CsrMatrix path(Index size) {
  CsrMatrix graph;
  graph.rows = graph.cols = size;
  for (Index v = 0; v < size; ++v) {
    if (v > 0) graph.col_indices.push_back(v - 1);
    if (v + 1 < size) graph.col_indices.push_back(v + 1);
    graph.row_offsets.push_back(static_cast<Offset>(graph.col_indices.size()));
  }
  graph.values.assign(graph.col_indices.size(), 1.0);
  return graph;
}

Index bandwidth(const CsrMatrix& graph) {
  Index width = 0;
  for (Index v = 0; v < graph.rows; ++v) {
    for (Offset e = graph.row_offsets.data()[v]; e < graph.row_offsets.data()[v + 1]; ++e) {
      width = std::max(width, std::abs(graph.col_indices.data()[e] - v));
    }
  }
  return width;
}

std::vector<Index> sorted_depths(const CsrMatrix& graph, Index source) {
  std::vector<Index> depth = graph::reference_bfs(graph.pattern(), source);
  std::sort(depth.begin(), depth.end());
  return depth;
}

/// The only vertex with that many neighbours.
Index vertex_of_degree(const CsrMatrix& graph, Offset degree) {
  Index v = 0;
  while (graph.row_offsets.data()[v + 1] - graph.row_offsets.data()[v] != degree) ++v;
  return v;
}

TEST(Renumbered, IsTheSameGraph) {
  const CsrMatrix graph = make_rmat({.scale = 10, .seed = 5});
  const Index hub = busiest_vertex(graph);
  const Offset degree = graph.row_offsets.data()[hub + 1] - graph.row_offsets.data()[hub];
  for (const std::string& order : list_orders()) {
    SCOPED_TRACE(order);
    const CsrMatrix other = renumbered(graph, order);
    EXPECT_NO_THROW(validate(other.pattern(), {.square = true}));
    EXPECT_EQ(other.entries(), graph.entries());
    EXPECT_NE(other.col_indices, graph.col_indices);
    EXPECT_EQ(sorted_depths(other, vertex_of_degree(other, degree)), sorted_depths(graph, hub));
    EXPECT_EQ(renumbered(graph, order).col_indices, other.col_indices);
  }
}

TEST(Renumbered, NeighboursAreFarFromEachOtherOrNear) {
  const CsrMatrix far = renumbered(path(4000), "random");
  EXPECT_GT(bandwidth(far), 2000);
  EXPECT_EQ(bandwidth(renumbered(far, "rcm")), 1);
}

TEST(Roads, AreASymmetricGraphOfFewNeighbours) {
  for (const Index edge : {1, 2, 3, 50}) {
    SCOPED_TRACE(edge);
    const CsrMatrix graph = make_roads(edge);
    EXPECT_NO_THROW(validate(graph.pattern(), {.square = true}));
    EXPECT_GE(graph.rows, edge * edge);
    const auto has = [&graph](Index v, Index u) {
      const auto row = graph.col_indices.begin();
      return std::binary_search(row + graph.row_offsets.data()[v], row + graph.row_offsets.data()[v + 1], u);
    };
    for (Index v = 0; v < graph.rows; ++v) {
      for (Offset e = graph.row_offsets.data()[v]; e < graph.row_offsets.data()[v + 1]; ++e) {
        const Index u = graph.col_indices.data()[e];
        EXPECT_NE(u, v);
        EXPECT_TRUE(has(u, v)) << v << ' ' << u;
      }
    }
    EXPECT_LE(graph.row_offsets.data()[busiest_vertex(graph) + 1] - graph.row_offsets.data()[busiest_vertex(graph)], 4);
  }
  const CsrMatrix graph = make_roads(200);
  EXPECT_NEAR(static_cast<double>(graph.entries()) / graph.rows, 2.4, 0.02);
  // Nearly all of it is one component, and far across.
  const std::vector<Index> depth = sorted_depths(graph, busiest_vertex(graph));
  const Index reached = depth.data()[static_cast<Index>(0.95 * graph.rows)];
  EXPECT_LT(reached, graph::kUnreached);
  EXPECT_GT(reached, 200);
  EXPECT_EQ(make_roads(1).entries(), 0);
  EXPECT_THROW(make_roads(0), InvalidInput);
  EXPECT_THROW(make_roads(13001), InvalidInput);
}

TEST(Renumbered, AnotherNameIsRefused) { EXPECT_THROW(renumbered(path(3), "given"), InvalidInput); }

}  // namespace
}  // namespace taskdag::benchmark
