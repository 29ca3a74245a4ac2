/// A rival from a shared library, and how many iterations of PageRank it is given.
#include "rival.hpp"

#include <gtest/gtest.h>

#include "studies/graph/bfs/bfs.hpp"
#include "studies/graph/pagerank/pagerank.hpp"
#include "taskdag/error.hpp"

namespace taskdag::benchmark {
namespace {

/// Vertex 0 has the neighbours 1 and 2; vertex 3 has none.
CsrMatrix star() {
  CsrMatrix graph;
  graph.rows = graph.cols = 4;
  graph.row_offsets = {0, 2, 3, 4, 4};
  graph.col_indices = {1, 2, 0, 0};
  return graph;
}

/// The same without the last vertex: changes fall by λ an iteration, the first one is λ.
CsrMatrix connected_star() {
  CsrMatrix graph = star();
  graph.rows = graph.cols = 3;
  graph.row_offsets.pop_back();
  return graph;
}

TEST(GraphRival, IterationsUntilStill) {
  const CsrMatrix graph = connected_star();
  EXPECT_EQ(iterations_until_still(graph.pattern(), 0.5, 0.6), 1);
  EXPECT_EQ(iterations_until_still(graph.pattern(), 0.5, 0.3), 2);
  EXPECT_EQ(iterations_until_still(graph.pattern(), 0.85, 1e-4), 57);
}

TEST(GraphRival, SearchesAsTheOracle) {
  const GraphRival rival(TASKDAG_RIVAL);
  const CsrMatrix graph = star();
  const PreparedRival prepared(rival, graph.pattern());
  const auto search = make_rival_bfs({prepared, 0}, 1);
  EXPECT_EQ(search->run().iterations, 3U);
  EXPECT_EQ(search->result(), graph::reference_bfs(graph.pattern(), 1));
}

TEST(GraphRival, RanksAreScaledAsOurs) {
  const GraphRival rival(TASKDAG_RIVAL);
  const CsrMatrix graph = star();
  const PreparedRival prepared(rival, graph.pattern());
  const graph::PagerankOptions options;
  const auto expected = graph::reference_pagerank(graph.pattern(), options);
  const auto ranks = make_rival_pagerank({prepared, 0}, options.damping, 200);
  EXPECT_EQ(ranks->run().iterations, 200U);
  EXPECT_LT(graph::pagerank_error(ranks->result(), expected), 1e-6);
}

TEST(GraphRival, TakesTheLeastIterationsThatAreGoodEnough) {
  const GraphRival rival(TASKDAG_RIVAL);
  const CsrMatrix graph = star();
  const PreparedRival prepared(rival, graph.pattern());
  const graph::PagerankOptions options;
  const auto expected = graph::reference_pagerank(graph.pattern(), options);
  const auto good = [&](const std::vector<float>& ranks) { return graph::pagerank_error(ranks, expected) <= 1e-2; };
  const auto found = make_rival_pagerank_until({prepared, 0}, options.damping, good);
  const auto iterations = static_cast<int>(found->run().iterations);
  EXPECT_TRUE(good(found->result()));
  const auto fewer = make_rival_pagerank({prepared, 0}, options.damping, iterations - 1);
  fewer->run();
  EXPECT_FALSE(good(fewer->result()));
  EXPECT_THROW(make_rival_pagerank_until({prepared, 0}, options.damping, [](const auto&) { return false; }), Error);
}

TEST(GraphRival, NoSuchFile) { EXPECT_THROW(GraphRival("no-such-file.so"), std::runtime_error); }

}  // namespace
}  // namespace taskdag::benchmark
