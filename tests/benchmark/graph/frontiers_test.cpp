/// What bulk synchronous runs have to do in each iteration.
#include "frontiers.hpp"

#include <gtest/gtest.h>

#include "studies/graph/bfs/bfs.hpp"
#include "taskdag/generators.hpp"

namespace taskdag::benchmark {
namespace {

CsrMatrix some_graph() { return make_rmat({.scale = 9, .seed = 3}); }

TEST(Frontiers, OfASearchHoldItsDepths) {
  const CsrMatrix graph = some_graph();
  const Index source = busiest_vertex(graph);
  const std::vector<Index> depth = graph::reference_bfs(graph.pattern(), source);
  const std::vector<Frontier> frontiers = bfs_frontiers(graph.pattern(), source);
  std::vector<Frontier> expected(frontiers.size());
  for (Index v = 0; v < graph.rows; ++v) {
    const Index at = depth.at(static_cast<std::size_t>(v));
    if (at < 0 || at >= static_cast<Index>(expected.size())) continue;  // not reached
    ++expected.at(static_cast<std::size_t>(at)).vertices;
    expected.at(static_cast<std::size_t>(at)).edges += graph.row_offsets.data()[v + 1] - graph.row_offsets.data()[v];
  }
  ASSERT_GT(frontiers.size(), 2U);
  for (std::size_t k = 0; k < frontiers.size(); ++k) {
    EXPECT_GT(frontiers[k].vertices, 0);
    EXPECT_EQ(frontiers[k].vertices, expected[k].vertices) << k;
    EXPECT_EQ(frontiers[k].edges, expected[k].edges) << k;
  }
}

TEST(Frontiers, OfPagerankAreThoseOfTheBulkSynchronousForm) {
  const CsrMatrix graph = some_graph();
  const auto form = graph::make_pagerank(Context::create({.backend = Backend::host, .threads = 1}), graph.pattern(), {},
                                         {.kind = graph::Kind::bsp});
  const graph::Run run = form->run(0);
  const std::vector<Frontier> frontiers = pagerank_frontiers(graph.pattern(), {});
  EXPECT_EQ(frontiers.size(), run.iterations);
  Offset edges = 0;
  for (const Frontier& frontier : frontiers) edges += frontier.edges;
  EXPECT_EQ(static_cast<std::uint64_t>(edges), run.work);
}

TEST(Frontiers, AreSmallWhereTheyHaveFewerEdgesThanLanes) {
  const FrontierSummary summary = summarise({{1, 4}, {2, 10}, {9, 30}}, 10);
  EXPECT_EQ(summary.iterations, 3);
  EXPECT_EQ(summary.median_vertices, 2);
  EXPECT_EQ(summary.median_edges, 10);
  EXPECT_EQ(summary.small, 1);
  EXPECT_EQ(summary.small_edges, 4);
  EXPECT_EQ(summary.edges, 44);
}

}  // namespace
}  // namespace taskdag::benchmark
