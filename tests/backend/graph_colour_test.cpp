// Deterministic colouring: the serial reference by its properties, host threads by equality with it.
#include <gtest/gtest.h>

#include <algorithm>

#include "graph_problems.hpp"
#include "kernels/ordering/colouring/colour.hpp"
#include "kernels/ordering/colouring/smallest_last.hpp"

namespace taskdag {
namespace {

using kernels::Colouring;
using kernels::ColourOptions;
using kernels::ColourOrder;

constexpr ColourOrder kOrders[] = {ColourOrder::natural, ColourOrder::hashed, ColourOrder::degree};

Offset most_neighbours(const CsrMatrix& graph) {
  Offset most = 0;
  for (Index v = 0; v < graph.rows; ++v) {
    most = std::max(most, graph.row_offsets.data()[v + 1] - graph.row_offsets.data()[v]);
  }
  return most;
}

TEST(GraphColour, NeighboursDifferAndColoursAreNoMoreThanDegreesAllow) {
  for (const test::GraphProblem& problem : test::graph_problems()) {
    for (const ColourOrder order : kOrders) {
      SCOPED_TRACE(problem.name + ", order " + std::to_string(static_cast<int>(order)));
      const Colouring result = kernels::reference_colour(problem.graph.pattern(), {.order = order});
      EXPECT_EQ(kernels::colour_conflicts(problem.graph.pattern(), result.colour), 0);
      EXPECT_LE(result.colours, most_neighbours(problem.graph) + 1);
      std::vector<char> occurs(static_cast<std::size_t>(result.colours), 0);
      for (const Index c : result.colour) {
        ASSERT_GE(c, 0);
        ASSERT_LT(c, result.colours);
        occurs.data()[c] = 1;
      }
      EXPECT_EQ(std::count(occurs.begin(), occurs.end(), 1), result.colours);
    }
  }
}

/// The most neighbours that any vertex has left when one with the fewest is taken away, again and again; by search.
Offset degeneracy(const CsrMatrix& graph) {
  std::vector<char> gone(static_cast<std::size_t>(graph.rows), 0);
  Offset most = 0;
  for (Index taken = 0; taken < graph.rows; ++taken) {
    Index best = -1;
    Offset fewest = 0;
    for (Index v = 0; v < graph.rows; ++v) {
      if (gone.data()[v] != 0) continue;
      Offset remaining = 0;
      for (Offset e = graph.row_offsets.data()[v]; e < graph.row_offsets.data()[v + 1]; ++e) {
        const Index u = graph.col_indices.data()[e];
        if (u != v && gone.data()[u] == 0) ++remaining;
      }
      if (best < 0 || remaining < fewest) {
        best = v;
        fewest = remaining;
      }
    }
    gone.data()[best] = 1;
    most = std::max(most, fewest);
  }
  return most;
}

TEST(GraphColour, SmallestLastNeedsNoMoreColoursThanTheDegeneracyAllows) {
  for (const test::GraphProblem& problem : test::graph_problems()) {
    SCOPED_TRACE(problem.name);
    const CsrPattern graph = problem.graph.pattern();
    const std::vector<Index> order = kernels::smallest_last_order(graph);
    std::vector<Index> sorted = order;
    std::ranges::sort(sorted);
    ASSERT_EQ(sorted.size(), static_cast<std::size_t>(graph.rows));
    for (Index v = 0; v < graph.rows; ++v) ASSERT_EQ(sorted.data()[v], v);
    const Colouring result = kernels::colour_in_order(graph, order);
    EXPECT_EQ(kernels::colour_conflicts(graph, result.colour), 0);
    EXPECT_EQ(result.colours, *std::ranges::max_element(result.colour) + 1);
    EXPECT_LE(result.colours, degeneracy(problem.graph) + 1);
  }
}

TEST(GraphColour, AConflictIsFound) {
  const CsrMatrix graph = test::graph_of(3, {{0, 1}, {1, 2}});
  EXPECT_EQ(kernels::colour_conflicts(graph.pattern(), {0, 1, 0}), 0);
  EXPECT_EQ(kernels::colour_conflicts(graph.pattern(), {0, 1, 1}), 2);
}

TEST(GraphColour, ACompleteGraphTakesAColourPerVertex) {
  std::vector<std::pair<Index, Index>> edges;
  for (Index u = 0; u < 150; ++u) {
    for (Index v = u + 1; v < 150; ++v) edges.emplace_back(u, v);
  }
  EXPECT_EQ(kernels::reference_colour(test::graph_of(150, edges).pattern()).colours, 150);
}

TEST(GraphColour, ANaturalOrderColoursAGridWithTwo) {
  const CsrMatrix grid = test::graph_problems()[7].graph;
  EXPECT_EQ(kernels::reference_colour(grid.pattern(), {.order = ColourOrder::natural, .improvements = 0}).colours, 2);
}

TEST(GraphColour, ImprovementsNeverAddColours) {
  for (const test::GraphProblem& problem : test::graph_problems()) {
    SCOPED_TRACE(problem.name);
    Index before = problem.graph.rows + 1;
    for (int improvements = 0; improvements < 5; ++improvements) {
      const Index colours = kernels::reference_colour(problem.graph.pattern(),
                                                      {.order = ColourOrder::hashed, .improvements = improvements})
                                .colours;
      EXPECT_LE(colours, before);
      before = colours;
    }
  }
}

TEST(GraphColour, TheSeedChangesTheResult) {
  const CsrMatrix grid = test::graph_problems()[7].graph;
  const auto colour = [&](std::uint32_t seed) {
    return kernels::reference_colour(grid.pattern(), {.order = ColourOrder::hashed, .seed = seed}).colour;
  };
  EXPECT_EQ(colour(1), colour(1));
  EXPECT_NE(colour(1), colour(2));
}

TEST(GraphColour, ClassesHoldEachVertexOnceInOrder) {
  const Colouring colouring{{1, 0, 2, 1, 0}, 3};
  const kernels::ColourClasses classes = kernels::colour_classes(colouring);
  EXPECT_EQ(classes.order, (std::vector<Index>{1, 4, 0, 3, 2}));
  EXPECT_EQ(classes.first, (std::vector<Index>{0, 2, 4, 5}));
}

TEST(GraphColour, HostThreadsGiveTheSerialResult) {
  for (const int threads : {2, 3, 8}) {
    host::ThreadPool pool(threads);
    for (const test::GraphProblem& problem : test::graph_problems()) {
      for (const ColourOrder order : kOrders) {
        for (const int improvements : {0, 2}) {
          SCOPED_TRACE(problem.name + ", order " + std::to_string(static_cast<int>(order)));
          const ColourOptions options{.order = order, .seed = 7, .improvements = improvements};
          const Colouring expected = kernels::reference_colour(problem.graph.pattern(), options);
          const Colouring found = kernels::colour_graph(problem.graph.pattern(), options, pool);
          EXPECT_EQ(found.colour, expected.colour);
          EXPECT_EQ(found.colours, expected.colours);
        }
      }
    }
  }
}

}  // namespace
}  // namespace taskdag
