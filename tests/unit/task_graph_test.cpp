// Task graphs, and what makes them smaller without changing what waits for what.
#include "dag/task_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "base/index.hpp"
#include "dag/levels.hpp"
#include "dag/supersteps/coarsening.hpp"
#include "dag/supersteps/funnel.hpp"
#include "dag/supersteps/path_priority.hpp"
#include "dag/supersteps/runs.hpp"
#include "dag/transitive_reduction.hpp"
#include "papers/boehnlein/path_score.hpp"
#include "unit/patterns.hpp"

namespace taskdag {
namespace {

/// A graph of unit weights from lists of parents.
TaskGraph graph_of(const std::vector<std::vector<Index>>& parents) {
  TaskGraph graph;
  for (const auto& list : parents) {
    graph.parents.insert(graph.parents.end(), list.begin(), list.end());
    graph.parent_offsets.push_back(static_cast<Offset>(graph.parents.size()));
    graph.weight.push_back(1);
  }
  graph.link_children();
  return graph;
}

std::vector<TaskGraph> small_graphs() {
  std::vector<TaskGraph> result;
  result.push_back(make_task_graph(test::dense(20).pattern(), Triangle::lower));
  result.push_back(make_task_graph(test::load_bundled("steam2").pattern(), Triangle::upper));
  result.push_back(make_task_graph(make_erdos_renyi_lower(300, 0.05, 1).pattern(), Triangle::lower));
  result.push_back(make_task_graph(make_narrow_band_lower(300, 0.4, 10, 2).pattern(), Triangle::lower));
  result.push_back(make_task_graph(
      make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 6, .ny = 5, .nz = 4}).pattern(), Triangle::upper));
  for (TaskGraph& graph : result) graph.link_children();
  return result;
}

/// reaches[w][u]: there is a path from u to w.
std::vector<std::vector<bool>> reachability(const TaskGraph& graph) {
  std::vector<std::vector<bool>> reaches(at(graph.size()), std::vector<bool>(at(graph.size()), false));
  for (Index w = 0; w < graph.size(); ++w) {
    for (const Index v : graph.parents_of(w)) {
      reaches[at(w)][at(v)] = true;
      for (Index u = 0; u < v; ++u) {
        if (reaches[at(v)][at(u)]) reaches[at(w)][at(u)] = true;
      }
    }
  }
  return reaches;
}

std::set<std::pair<Index, Index>> edges(const TaskGraph& graph) {
  std::set<std::pair<Index, Index>> result;
  for (Index w = 0; w < graph.size(); ++w) {
    for (const Index u : graph.parents_of(w)) result.emplace(u, w);
  }
  return result;
}

TEST(TaskGraph, HasATaskPerRowInSweepOrderAndAnEdgePerStrictEntry) {
  for (const test::NamedMatrix& m : test::schedule_matrices()) {
    SCOPED_TRACE(m.name);
    const TaskGraph lower = make_task_graph(m.a.pattern(), Triangle::lower);
    const TaskGraph upper = make_task_graph(m.a.pattern(), Triangle::upper);
    std::set<std::pair<Index, Index>> below;
    std::set<std::pair<Index, Index>> above;
    for (Index i = 0; i < m.a.rows; ++i) {
      for (Offset e = m.a.row_offsets[at(i)]; e < m.a.row_offsets[at(i) + 1]; ++e) {
        const Index j = m.a.col_indices[static_cast<std::size_t>(e)];
        if (j < i) below.emplace(j, i);
        if (j > i) above.emplace(m.a.rows - 1 - j, m.a.rows - 1 - i);
      }
    }
    EXPECT_EQ(lower.size(), m.a.rows);
    EXPECT_EQ(edges(lower), below);
    EXPECT_EQ(edges(upper), above);
  }
}

TEST(TaskGraph, ListsChildrenAsParentsDo) {
  for (const TaskGraph& graph : small_graphs()) {
    std::set<std::pair<Index, Index>> from_children;
    for (Index u = 0; u < graph.size(); ++u) {
      EXPECT_TRUE(std::ranges::is_sorted(graph.children_of(u)));
      EXPECT_TRUE(std::ranges::is_sorted(graph.parents_of(u)));
      for (const Index w : graph.children_of(u)) from_children.emplace(u, w);
    }
    EXPECT_EQ(from_children, edges(graph));
  }
}

TEST(TaskGraph, WeighsRowsByTheirEntries) {
  const TaskGraph graph = make_task_graph(test::dense(5).pattern(), Triangle::lower);
  EXPECT_EQ(graph.weight, (std::vector<Offset>{1, 2, 3, 4, 5}));
}

TEST(TaskGraph, HasTheLevelsOfTheTriangle) {
  for (const test::NamedMatrix& m : test::schedule_matrices()) {
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      const std::vector<Index> expected = compute_levels(m.a.pattern(), triangle);
      const std::vector<Index> levels = compute_levels(make_task_graph(m.a.pattern(), triangle));
      for (Index step = 0; step < m.a.rows; ++step) {
        ASSERT_EQ(levels[at(step)], expected[at(row_of_step(triangle, m.a.rows, step))]) << m.name;
      }
    }
  }
}

TEST(TransitiveReduction, RemovesTheLongEdgesOfTrianglesAndNoOthers) {
  for (TaskGraph& graph : small_graphs()) {
    const auto before = edges(graph);
    remove_long_edges(graph, kFullReduction);
    const auto after = edges(graph);
    for (const auto& [u, w] : before) {
      const bool is_long = std::ranges::any_of(before, [&, u = u, w = w](const auto& edge) {
        return edge.first == u && before.contains({edge.second, w});
      });
      EXPECT_EQ(after.contains({u, w}), !is_long) << u << " -> " << w;
    }
    EXPECT_LE(after.size(), before.size());
  }
}

TEST(TransitiveReduction, KeepsReachabilityHoweverEarlyItEnds) {
  for (const ReductionEffort& effort : {kFullReduction, ReductionEffort(), ReductionEffort{0, 0, 500}}) {
    for (TaskGraph& graph : small_graphs()) {
      const auto before = reachability(graph);
      remove_long_edges(graph, effort);
      EXPECT_EQ(reachability(graph), before);
    }
  }
}

TEST(TransitiveReduction, EndsEarlyWhereItsEffortIsSpent) {
  const CsrMatrix random = make_erdos_renyi_lower(2000, 0.05, 1);
  TaskGraph full = make_task_graph(random.pattern(), Triangle::lower);
  TaskGraph part = full;
  const Offset all = full.edges();
  remove_long_edges(full, kFullReduction);
  remove_long_edges(part, {1, 1, 100000});
  EXPECT_LT(full.edges(), part.edges());
  EXPECT_LT(part.edges(), all);
}

TEST(TransitiveReduction, MakesAChainOfADenseTriangle) {
  TaskGraph graph = make_task_graph(test::dense(30).pattern(), Triangle::lower);
  remove_long_edges(graph);
  EXPECT_EQ(graph.edges(), 29);
  for (Index task = 1; task < 30; ++task) EXPECT_EQ(graph.parents_of(task).front(), task - 1);
}

TEST(Funnel, IsWithinItsWeightAndOpenAtOneTask) {
  for (const TaskGraph& graph : small_graphs()) {
    for (const Funnel kind : {Funnel::in, Funnel::out, Funnel::tree}) {
      for (const Offset most : {1, 7, 40, 1000000}) {
        const Partition partition = find_funnels(graph, kind, most);
        std::vector<Index> size(at(partition.groups), 0);
        std::vector<Index> open(at(partition.groups), 0);
        std::vector<std::int64_t> weight(at(partition.groups), 0);
        for (Index task = 0; task < graph.size(); ++task) {
          const Index group = partition.group[at(task)];
          ++size[at(group)];
          weight[at(group)] += graph.weight[at(task)];
          const auto neighbours = kind == Funnel::out ? graph.parents_of(task) : graph.children_of(task);
          const bool closed = !neighbours.empty() && std::ranges::all_of(neighbours, [&](Index other) {
            return partition.group[at(other)] == group;
          });
          if (closed && kind == Funnel::tree) {
            EXPECT_EQ(neighbours.size(), 1U);
          }
          if (!closed) ++open[at(group)];
        }
        for (std::size_t group = 0; group < size.size(); ++group) {
          EXPECT_EQ(open[group], 1);
          EXPECT_TRUE(size[group] == 1 || weight[group] <= most);
        }
      }
    }
  }
}

TEST(Funnel, KeepsTheGraphFreeOfCyclesAndOrdersItsGroups) {
  for (const TaskGraph& graph : small_graphs()) {
    for (const Funnel kind : {Funnel::in, Funnel::out, Funnel::tree}) {
      for (const Offset most : {5, 60, 1000000}) {
        const Partition partition = find_funnels(graph, kind, most);
        for (const auto& [u, w] : edges(graph)) EXPECT_LE(partition.group[at(u)], partition.group[at(w)]);
        const TaskGraph coarse = coarsen(graph, partition);
        for (const auto& [u, w] : edges(coarse)) EXPECT_LT(u, w);
        const auto fine_levels = compute_levels(graph);
        const auto levels = compute_levels(coarse);
        EXPECT_LE(*std::ranges::max_element(levels), *std::ranges::max_element(fine_levels));
      }
    }
  }
}

TEST(Funnel, TakesWholeChainsTreesAndDiamonds) {
  TaskGraph chain = make_task_graph(test::chain(100).pattern(), Triangle::lower);
  chain.link_children();
  for (const Funnel kind : {Funnel::in, Funnel::out, Funnel::tree}) {
    EXPECT_EQ(find_funnels(chain, kind, 1000).groups, 1);
  }
  const TaskGraph in_tree = graph_of({{}, {}, {}, {}, {0, 1}, {2, 3}, {4, 5}});
  EXPECT_EQ(find_funnels(in_tree, Funnel::in, 7).groups, 1);
  EXPECT_EQ(find_funnels(in_tree, Funnel::tree, 7).groups, 1);
  EXPECT_EQ(find_funnels(in_tree, Funnel::out, 7).groups, 7);
  const TaskGraph diamond = graph_of({{}, {0}, {0}, {1, 2}});
  EXPECT_EQ(find_funnels(diamond, Funnel::in, 4).groups, 1);
  EXPECT_EQ(find_funnels(diamond, Funnel::out, 4).groups, 1);
  EXPECT_EQ(find_funnels(diamond, Funnel::tree, 4).groups, 2);
}

TEST(Funnel, EndsAtTheWeightLimit) {
  const TaskGraph chain = graph_of({{}, {0}, {1}, {2}, {3}, {4}, {5}});
  EXPECT_EQ(find_funnels(chain, Funnel::in, 3).group, (std::vector<Index>{0, 1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(find_funnels(chain, Funnel::out, 3).group, (std::vector<Index>{0, 0, 0, 1, 1, 1, 2}));
}

TEST(Runs, AreConsecutiveNoLongerThanAskedAndEndWithGridLines) {
  for (const TaskGraph& graph : small_graphs()) {
    for (const Index most : {1, 4, 64}) {
      const Partition runs = find_runs(graph, most);
      EXPECT_TRUE(std::ranges::is_sorted(runs.group));
      EXPECT_EQ(runs.group.back(), runs.groups - 1);
      for (Index group = 0; group < runs.groups; ++group) {
        const auto size = std::ranges::count(runs.group, group);
        EXPECT_GE(size, 1);
        EXPECT_LE(size, most);
      }
    }
  }
  const CsrMatrix grid = make_stencil({.stencil = Stencil::five_point, .nx = 50, .ny = 3});
  const Partition lines = find_runs(make_task_graph(grid.pattern(), Triangle::lower), 64);
  EXPECT_EQ(lines.groups, 3);
  EXPECT_EQ(lines.group[49], 0);
  EXPECT_EQ(lines.group[50], 1);
  EXPECT_EQ(find_runs(TaskGraph(), 4).groups, 0);
}

TEST(Coarsening, AddsWeightsAndJoinsEdges) {
  TaskGraph graph = graph_of({{}, {}, {0, 1}, {0, 1, 2}});
  graph.weight = {1, 2, 3, 4};
  const TaskGraph coarse = coarsen(graph, {2, {0, 0, 1, 1}});
  EXPECT_EQ(coarse.weight, (std::vector<Offset>{3, 7}));
  EXPECT_EQ(edges(coarse), (std::set<std::pair<Index, Index>>{{0, 1}}));
}

TEST(PathPriority, IsTheScoreOfEquationThreeOne) {
  for (const TaskGraph& graph : {graph_of({{}, {0}, {0}, {1, 2}, {3}, {3, 0}}), graph_of({{}, {}, {0, 1}, {2}})}) {
    std::vector<double> score(at(graph.size()));
    for (Index task = graph.size(); task-- > 0;) {
      double squares = 0.0;
      for (const Index child : graph.children_of(task)) squares += score[at(child)] * score[at(child)];
      score[at(task)] = graph.weight[at(task)] + std::sqrt(squares);
    }
    const std::vector<double> priority = pivotal_path_priorities(graph);
    for (std::size_t task = 0; task < score.size(); ++task) {
      const double exponent = std::floor(priority[task]);
      EXPECT_NEAR((1.0 + priority[task] - exponent) * std::exp2(exponent), score[task], 1e-12 * score[task]);
    }
  }
}

TEST(PathPriority, DoesNotOverflowOnLongGraphs) {
  // Two tasks a layer, each with both of the next layer as children: scores grow by √2 a layer.
  std::vector<std::vector<Index>> parents{{}, {}};
  for (Index layer = 1; layer < 10000; ++layer) {
    for (int k = 0; k < 2; ++k) parents.push_back({2 * layer - 2, 2 * layer - 1});
  }
  const std::vector<double> priority = pivotal_path_priorities(graph_of(parents));
  EXPECT_GT(priority.front(), 4900.0);
  for (std::size_t task = 2; task < priority.size(); ++task) {
    ASSERT_TRUE(std::isfinite(priority[task]));
    ASSERT_LT(priority[task], priority[task - 2]);
  }
}

TEST(PathPriority, FindsTheHeaviestPath) {
  TaskGraph graph = graph_of({{}, {}, {0, 1}, {1}});
  graph.weight = {1, 2, 3, 10};
  EXPECT_EQ(heaviest_paths(graph), (std::vector<std::int64_t>{4, 12, 3, 10}));
}

}  // namespace
}  // namespace taskdag
