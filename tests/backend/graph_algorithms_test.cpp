// BFS, PageRank and colouring in all forms, against serial references.
#include <algorithm>
#include <cmath>

#include "graph_forms.hpp"
#include "graph_problems.hpp"
#include "kernels/ordering/colouring/colour.hpp"
#include "studies/graph/bfs/bfs.hpp"
#include "studies/graph/colouring/colouring.hpp"
#include "studies/graph/pagerank/pagerank.hpp"
#include "support/effort.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

using graph::Form;
using graph::Kind;

/// A source in a component of several vertices, where there is one.
Index some_vertex(const CsrMatrix& graph) {
  Index v = 0;
  while (v + 1 < graph.rows && graph.row_offsets.data()[v + 1] == graph.row_offsets.data()[v]) ++v;
  return v;
}

class GraphAlgorithms : public test::GraphTest {};

/// Under a sanitizer each problem has a third of the forms, another third than the problem before.
std::vector<Form> forms_of(std::size_t problem, Backend backend) {
  constexpr std::size_t kStep = test::kSanitized ? 3 : 1;
  const std::vector<Form> all = test::graph_forms(backend);
  std::vector<Form> forms;
  for (std::size_t f = problem % kStep; f < all.size(); f += kStep) forms.push_back(all[f]);
  return forms;
}

TEST_P(GraphAlgorithms, DepthsAreTheSerialOnes) {
  std::size_t number = 0;
  for (const test::GraphProblem& problem : test::graph_problems()) {
    const Index source = some_vertex(problem.graph);
    const std::vector<Index> expected = graph::reference_bfs(problem.graph.pattern(), source);
    for (const Form& form : forms_of(number++, GetParam().backend)) {
      SCOPED_TRACE(problem.name + ", " + graph::describe(form));
      const auto bfs = graph::make_bfs(context(), problem.graph.pattern(), source, form);
      for (int repeat = 0; repeat < 2; ++repeat) {
        bfs->run();
        EXPECT_EQ(bfs->result(), expected);
      }
    }
  }
}

TEST_P(GraphAlgorithms, RanksAreWithinTheToleranceOfTheFixedPoint) {
  const graph::PagerankOptions options;
  std::size_t number = 0;
  for (const test::GraphProblem& problem : test::graph_problems()) {
    const std::vector<double> expected = graph::reference_pagerank(problem.graph.pattern(), options);
    for (const Form& form : forms_of(number++, GetParam().backend)) {
      SCOPED_TRACE(problem.name + ", " + graph::describe(form));
      const auto pagerank = graph::make_pagerank(context(), problem.graph.pattern(), options, form);
      for (int repeat = 0; repeat < (test::kSanitized ? 1 : 2); ++repeat) {
        pagerank->run();
        EXPECT_LE(graph::pagerank_error(pagerank->result(), expected), graph::pagerank_tolerance(options));
      }
    }
  }
}

TEST_P(GraphAlgorithms, IdleWorkersMakeRanksNoWorse) {
  const graph::PagerankOptions options;
  for (const test::GraphProblem& problem : test::graph_problems()) {
    SCOPED_TRACE(problem.name);
    const std::vector<double> expected = graph::reference_pagerank(problem.graph.pattern(), options);
    const Form form = {.worker = 32, .fetch = 8, .rounds = 2, .idle = true};
    const auto pagerank = graph::make_pagerank(context(), problem.graph.pattern(), options, form);
    for (int repeat = 0; repeat < 3; ++repeat) {
      pagerank->run();
      EXPECT_LE(graph::pagerank_error(pagerank->result(), expected), graph::pagerank_tolerance(options));
    }
  }
}

TEST_P(GraphAlgorithms, RanksAreRightHoweverLittleIsScanned) {
  const graph::PagerankOptions options;
  for (const test::GraphProblem& problem : test::graph_problems()) {
    const std::vector<double> expected = graph::reference_pagerank(problem.graph.pattern(), options);
    for (const int check : {0, 1, 16}) {
      SCOPED_TRACE(problem.name + ", check " + std::to_string(check));
      const Form form = {.worker = 32, .fetch = 32, .written = true, .check = check};
      const auto pagerank = graph::make_pagerank(context(), problem.graph.pattern(), options, form);
      for (int repeat = 0; repeat < (test::kSanitized ? 1 : 3); ++repeat) {
        const graph::Run run = pagerank->run();
        EXPECT_LE(graph::pagerank_error(pagerank->result(), expected), graph::pagerank_tolerance(options));
        EXPECT_GE(run.work, static_cast<std::uint64_t>(problem.graph.entries()));  // all hand on what they begin with
      }
    }
  }
}

TEST_P(GraphAlgorithms, NeighboursHaveDifferentColours) {
  std::size_t number = 0;
  for (const test::GraphProblem& problem : test::graph_problems()) {
    Offset degree = 0;
    for (Index v = 0; v < problem.graph.rows; ++v) {
      degree = std::max(degree, problem.graph.row_offsets.data()[v + 1] - problem.graph.row_offsets.data()[v]);
    }
    for (const Form& form : forms_of(number++, GetParam().backend)) {
      SCOPED_TRACE(problem.name + ", " + graph::describe(form));
      const auto colouring = graph::make_colouring(context(), problem.graph.pattern(), form);
      for (int repeat = 0; repeat < 2; ++repeat) {
        const graph::Run run = colouring->run();
        const std::vector<Index> colour = colouring->result();
        EXPECT_EQ(kernels::colour_conflicts(problem.graph.pattern(), colour), 0);
        EXPECT_GE(*std::min_element(colour.begin(), colour.end()), 0);
        EXPECT_LE(*std::max_element(colour.begin(), colour.end()), degree);
        EXPECT_GE(run.work, static_cast<std::uint64_t>(problem.graph.rows));
      }
    }
  }
}

TEST_P(GraphAlgorithms, BulkSynchronousSearchLooksAtEachEdgeOnce) {
  for (const test::GraphProblem& problem : test::graph_problems()) {
    SCOPED_TRACE(problem.name);
    const Index source = some_vertex(problem.graph);
    const std::vector<Index> depth = graph::reference_bfs(problem.graph.pattern(), source);
    std::uint64_t edges = 0;
    for (Index v = 0; v < problem.graph.rows; ++v) {
      if (depth.data()[v] == graph::kUnreached) continue;
      edges +=
          static_cast<std::uint64_t>(problem.graph.row_offsets.data()[v + 1] - problem.graph.row_offsets.data()[v]);
    }
    const auto bfs = graph::make_bfs(context(), problem.graph.pattern(), source, {.kind = Kind::bsp});
    EXPECT_EQ(bfs->run().work, edges);
    const auto tasks = graph::make_bfs(context(), problem.graph.pattern(), source, {.worker = 32, .fetch = 8});
    EXPECT_GE(tasks->run().work, edges);
    const Form form = {.worker = 256, .fetch = 256, .written = true};
    EXPECT_GE(graph::make_bfs(context(), problem.graph.pattern(), source, form)->run().work, edges);
  }
}

TEST_P(GraphAlgorithms, ATimelineAddsUpToTheWork) {
  const CsrMatrix grid = test::graph_problems()[7].graph;
  for (const Kind kind : {Kind::bsp, Kind::asynchronous}) {
    if (kind == Kind::bsp && GetParam().backend == Backend::host) continue;  // the host's has none
    const auto bfs = graph::make_bfs(context(), grid.pattern(), 0, {.kind = kind, .worker = 32, .fetch = 8});
    const graph::Run run = bfs->run(1000);
    std::uint64_t sum = 0;
    for (const std::uint32_t work : run.timeline) sum += work;
    EXPECT_EQ(sum, run.work);
    EXPECT_TRUE(bfs->run(0).timeline.empty());
  }
}

TEST_P(GraphAlgorithms, WhatDoesNotExistIsRefused) {
  const CsrMatrix path = test::graph_of(2, {{0, 1}});
  EXPECT_THROW(graph::make_bfs(context(), path.pattern(), 2, {}), InvalidInput);
  EXPECT_THROW(graph::make_bfs(context(), path.pattern(), -1, {}), InvalidInput);
  EXPECT_THROW(graph::make_bfs(context(), path.pattern(), 0, {.worker = 32, .fetch = 7}), InvalidInput);
  EXPECT_THROW(graph::make_pagerank(context(), path.pattern(), {}, {.worker = 33, .fetch = 1}), InvalidInput);
  EXPECT_THROW(graph::make_colouring(context(), path.pattern(), {.worker = 0, .fetch = 0}), InvalidInput);
  EXPECT_THROW(graph::make_bfs(context(), path.pattern(), 0, {.worker = 32, .fetch = 8, .idle = true}), InvalidInput);
  EXPECT_THROW(graph::make_pagerank(context(), path.pattern(), {}, {.worker = 1, .fetch = 1, .idle = true}),
               InvalidInput);
  const Form written = {.worker = 32, .fetch = 1, .written = true};
  const auto with = [&written](auto change) {
    Form form = written;
    change(form);
    return form;
  };
  for (const Form& form : {with([](Form& f) { f.rounds = 2; }), with([](Form& f) { f.idle = true; }),
                           with([](Form& f) { f.fetch = 3; })}) {
    EXPECT_THROW(graph::make_bfs(context(), path.pattern(), 0, form), InvalidInput);
    EXPECT_THROW(graph::make_pagerank(context(), path.pattern(), {}, form), InvalidInput);
    EXPECT_THROW(graph::make_colouring(context(), path.pattern(), form), InvalidInput);
  }
  for (const int check : {-1, 17}) {
    EXPECT_THROW(graph::make_pagerank(context(), path.pattern(), {}, with([check](Form& f) { f.check = check; })),
                 InvalidInput);
  }
  if (GetParam().backend != Backend::host) return;
  EXPECT_THROW(graph::make_bfs(context(), path.pattern(), 0, {.kind = Kind::bsp_graph}), Unsupported);
  EXPECT_THROW(graph::make_pagerank(context(), path.pattern(), {}, {.kind = Kind::bsp_ahead}), Unsupported);
  EXPECT_THROW(graph::make_colouring(context(), path.pattern(), {.kind = Kind::bsp_graph}), Unsupported);
}

TEST(PagerankReference, RanksOfARegularGraphAreOne) {
  const CsrMatrix complete = test::graph_problems()[5].graph;
  for (const double rank : graph::reference_pagerank(complete.pattern(), {})) EXPECT_NEAR(rank, 1.0, 1e-10);
}

TEST(PagerankReference, AStarsCentreHasItsShareOfTheRest) {
  const CsrMatrix star = test::graph_of(4, {{0, 1}, {0, 2}, {0, 3}});
  const std::vector<double> rank = graph::reference_pagerank(star.pattern(), {.damping = 0.5F});
  // c = 1/2 + 3 l/2, l = 1/2 + c/6
  EXPECT_NEAR(rank[0], 5.0 / 3.0, 1e-10);
  EXPECT_NEAR(rank[1], 7.0 / 9.0, 1e-10);
}

TEST(PagerankErrorBound, IsNotBelowTheError) {
  const graph::PagerankOptions options;
  for (const test::GraphProblem& problem : test::graph_problems()) {
    SCOPED_TRACE(problem.name);
    const CsrPattern pattern = problem.graph.pattern();
    const std::vector<double> expected = graph::reference_pagerank(pattern, options);
    std::vector<float> found(expected.begin(), expected.end());
    EXPECT_LE(graph::pagerank_error_bound(pattern, found, options), 1e-5);
    for (std::size_t v = 0; v < found.size(); v += 3) found[v] *= 1.01F;
    EXPECT_GE(graph::pagerank_error_bound(pattern, found, options), 0.999 * graph::pagerank_error(found, expected));
    found.front() = NAN;
    EXPECT_TRUE(std::isinf(graph::pagerank_error_bound(pattern, found, options)));
    found.pop_back();
    EXPECT_TRUE(std::isinf(graph::pagerank_error_bound(pattern, found, options)));
  }
}

TEST(PagerankError, IsTheMeanDifference) {
  EXPECT_DOUBLE_EQ(graph::pagerank_error({1.0F, 2.0F}, {1.5, 2.0}), 0.25);
  EXPECT_TRUE(std::isinf(graph::pagerank_error({1.0F}, {1.0, 2.0})));
}

INSTANTIATE_TEST_SUITE_P(Everywhere, GraphAlgorithms, testing::ValuesIn(test::graph_places()),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace taskdag
