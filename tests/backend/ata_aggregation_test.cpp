// The reference of ATA's aggregation makes valid hierarchical DAGs, whatever the matrix, the policy and the
// granularity, and what the library decides on the host about levels and tasks is what the reference says.
// ata_device_test.cpp has the rest of the library's aggregation.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "ata_reference.hpp"
#include "base/index.hpp"
#include "papers/helal/task_size.hpp"
#include "problems.hpp"
#include "support/effort.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

using kernels::Aggregation;
using kernels::CoarseDag;
using kernels::DagClass;
using test::aggregate;
using test::FineDag;
using test::HierarchicalDag;
using test::RowTaskList;

constexpr Aggregation kAggregations[] = {Aggregation::by_level, Aggregation::sweep_order, Aggregation::concurrency,
                                         Aggregation::locality, Aggregation::greedy};
constexpr Index kGranularities[] = {1, 3, 32, 1000, 1 << 30};

/// Lanes that mix within levels.
std::vector<std::uint8_t> mixed_lanes(Index rows) {
  std::vector<std::uint8_t> lanes(at(rows));
  for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = static_cast<std::uint8_t>(i * 7 % 11 % 6);
  return lanes;
}

template <class Check>
void for_each_hierarchy(const Check& check) {
  for (const test::Problem& problem : test::small_problems()) {
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      const FineDag dag = test::make_fine_dag(problem.a, triangle);
      for (const Aggregation aggregation : kAggregations) {
        for (const Index granularity : kGranularities) {
          SCOPED_TRACE(problem.name + (triangle == Triangle::lower ? ", lower" : ", upper") + ", policy " +
                       std::to_string(static_cast<int>(aggregation)) + ", S = " + std::to_string(granularity));
          const std::vector<std::uint8_t> lanes = mixed_lanes(dag.rows());
          check(dag, aggregation, granularity, lanes, aggregate(dag, aggregation, granularity, lanes));
        }
      }
    }
  }
}

/// ancestors[t][p]: there is a path of coarse edges from p to t.
std::vector<std::vector<bool>> ancestors(const HierarchicalDag& hierarchy) {
  std::vector<std::vector<bool>> result(at(hierarchy.coarse.tasks()),
                                        std::vector<bool>(at(hierarchy.coarse.tasks()), false));
  for (Index t = 0; t < hierarchy.coarse.tasks(); ++t) {
    for (auto e = hierarchy.coarse.predecessor_offsets[at(t)]; e < hierarchy.coarse.predecessor_offsets[at(t) + 1];
         ++e) {
      const Index before = hierarchy.coarse.predecessors[static_cast<std::size_t>(e)];
      EXPECT_LT(before, t);  // acyclic
      result[at(t)][at(before)] = true;
      for (std::size_t k = 0; k < at(before); ++k) {
        if (result[at(before)][k]) result[at(t)][k] = true;
      }
    }
  }
  return result;
}

TEST(AtaAggregation, PutsEachRowIntoOneTask) {
  for_each_hierarchy([](const FineDag& dag, Aggregation, Index, const auto&, const HierarchicalDag& hierarchy) {
    std::vector<Index> sorted = hierarchy.order;
    std::sort(sorted.begin(), sorted.end());
    std::vector<Index> all(at(dag.rows()));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(sorted, all);
    ASSERT_EQ(hierarchy.coarse.first.size(), at(hierarchy.coarse.tasks()) + 1);
    EXPECT_EQ(hierarchy.coarse.first.back(), dag.rows());
    for (Index t = 0; t < hierarchy.coarse.tasks(); ++t) {
      ASSERT_LT(hierarchy.coarse.first[at(t)], hierarchy.coarse.first[at(t) + 1]);
      for (Index p = hierarchy.coarse.first[at(t)]; p < hierarchy.coarse.first[at(t) + 1]; ++p) {
        ASSERT_EQ(hierarchy.task_of_row[at(hierarchy.order[at(p)])], t);
      }
    }
  });
}

TEST(AtaAggregation, OrdersEveryDependencyInsideATaskOrByCoarseEdges) {
  for_each_hierarchy([](const FineDag& dag, Aggregation, Index, const auto&, const HierarchicalDag& hierarchy) {
    if (hierarchy.coarse.tasks() > 1500 / test::kSmaller) return;  // the closure is quadratic
    std::vector<Index> position(hierarchy.order.size());
    for (Index p = 0; p < dag.rows(); ++p) position[at(hierarchy.order[at(p)])] = p;
    const auto before = ancestors(hierarchy);
    std::int64_t inside = 0;
    std::vector<char> any_inside(hierarchy.coarse.tracked.size(), 0);
    for (Index i = 0; i < dag.rows(); ++i) {
      for (Offset e = dag.offsets[at(i)]; e < dag.offsets[at(i) + 1]; ++e) {
        const Index j = dag.columns[at(e)];
        const Index from = hierarchy.task_of_row[at(j)];
        const Index to = hierarchy.task_of_row[at(i)];
        if (from == to) {
          ASSERT_LT(position[at(j)], position[at(i)]);
          any_inside[at(to)] = 1;
          ++inside;
        } else {
          ASSERT_TRUE(before[at(to)][at(from)]) << from << " before " << to;
        }
      }
    }
    EXPECT_EQ(any_inside, hierarchy.coarse.tracked);
    EXPECT_EQ(inside, hierarchy.coarse.fine_edges);
    EXPECT_LE(inside + static_cast<std::int64_t>(hierarchy.coarse.predecessors.size()), std::int64_t{dag.edges()});
  });
}

TEST(AtaAggregation, GivesTasksTheGranularityOfTheirPolicy) {
  for_each_hierarchy([](const FineDag& dag, Aggregation aggregation, Index granularity, const auto&,
                        const HierarchicalDag& hierarchy) {
    if (dag.rows() == 0) return;
    if (aggregation == Aggregation::sweep_order) {
      EXPECT_EQ(hierarchy.coarse.tasks(), 1);
    }
    if (aggregation == Aggregation::by_level) {
      EXPECT_EQ(hierarchy.coarse.tasks(), dag.levels);
    }
    if (aggregation == Aggregation::by_level || aggregation == Aggregation::sweep_order) {
      EXPECT_EQ(hierarchy.coarse.granularity, 0);
      return;
    }
    EXPECT_GE(hierarchy.coarse.granularity, granularity);
    EXPECT_LE(hierarchy.coarse.tasks(), kernels::kMaxAdaptiveTasks);
    EXPECT_LE(static_cast<std::int64_t>(hierarchy.coarse.predecessors.size()), kernels::kMaxCoarseEdges);
    if (hierarchy.coarse.tasks() < 1000) {
      EXPECT_EQ(hierarchy.coarse.granularity, granularity);
    }
    for (Index t = 0; t + 1 < hierarchy.coarse.tasks(); ++t) {
      const Index rows = hierarchy.coarse.first[at(t) + 1] - hierarchy.coarse.first[at(t)];
      if (aggregation == Aggregation::concurrency) {
        ASSERT_GE(rows, hierarchy.coarse.granularity);
      } else {
        ASSERT_EQ(rows, hierarchy.coarse.granularity);
      }
    }
  });
}

TEST(AtaAggregation, ConcurrencyAwareTasksAreRunsOfWholeLevels) {
  for_each_hierarchy(
      [](const FineDag& dag, Aggregation aggregation, Index, const auto&, const HierarchicalDag& hierarchy) {
        if (aggregation != Aggregation::concurrency) return;
        std::vector<Index> task_of_level(at(dag.levels), -1);
        for (Index i = 0; i < dag.rows(); ++i) {
          Index& task = task_of_level[at(dag.level[at(i)])];
          if (task < 0) task = hierarchy.task_of_row[at(i)];
          ASSERT_EQ(task, hierarchy.task_of_row[at(i)]);
        }
        EXPECT_TRUE(std::is_sorted(task_of_level.begin(), task_of_level.end()));
        // A chain: each task waits for the one before it and, through that, for all earlier ones.
        EXPECT_EQ(static_cast<Index>(hierarchy.coarse.predecessors.size()), std::max(hierarchy.coarse.tasks() - 1, 0));
      });
}

TEST(AtaAggregation, LocalityAwareTasksHoldNeighbours) {
  for_each_hierarchy([](const FineDag&, Aggregation aggregation, Index, const auto&, const HierarchicalDag& hierarchy) {
    if (aggregation != Aggregation::locality) return;
    for (Index t = 0; t < hierarchy.coarse.tasks(); ++t) {
      const auto rows = std::minmax_element(hierarchy.order.begin() + hierarchy.coarse.first[at(t)],
                                            hierarchy.order.begin() + hierarchy.coarse.first[at(t) + 1]);
      ASSERT_EQ(*rows.second - *rows.first + 1, hierarchy.coarse.first[at(t) + 1] - hierarchy.coarse.first[at(t)]);
    }
  });
}

TEST(AtaAggregation, RowsOfAWarpShareTaskLevelAndLanes) {
  for_each_hierarchy([](const FineDag& dag, Aggregation, Index, const std::vector<std::uint8_t>& lanes,
                        const HierarchicalDag& hierarchy) {
    const RowTaskList tasks = test::make_row_tasks(dag, hierarchy, lanes);
    ASSERT_EQ(tasks.first.size(), hierarchy.coarse.first.size());
    Index position = 0;
    for (Index t = 0; t < hierarchy.coarse.tasks(); ++t) {
      for (Index k = tasks.first[at(t)]; k < tasks.first[at(t) + 1]; ++k) {
        const kernels::RowTask& task = tasks.task[at(k)];
        ASSERT_EQ(task.first, position);
        ASSERT_GT(task.rows, 0);
        ASSERT_LE(task.rows << task.log2_lanes, 32);
        const Index first = hierarchy.order[at(position)];
        for (Index r = 0; r < task.rows; ++r) {
          const Index row = hierarchy.order[at(position + r)];
          ASSERT_EQ(dag.level[at(row)], dag.level[at(first)]);
          ASSERT_EQ(lanes[at(row)], task.log2_lanes);
        }
        position += task.rows;
      }
      ASSERT_EQ(position, hierarchy.coarse.first[at(t) + 1]);
    }
  });
}

TEST(AtaAggregation, DecidesAboutLevelsAndTasksLikeTheReference) {
  for_each_hierarchy([](const FineDag& dag, Aggregation aggregation, Index granularity, const auto&,
                        const HierarchicalDag& hierarchy) {
    if (dag.rows() == 0) return;
    const CoarseDag& expected = hierarchy.coarse;
    if (expected.granularity > 0) {
      Index found = kernels::within_most_tasks(aggregation, granularity, dag.rows(), dag.levels);
      while (found < expected.granularity) found = kernels::next_granularity(found, dag.rows());
      EXPECT_EQ(found, expected.granularity);
    }
    const std::vector<Index> rows_of_level = test::rows_of_levels(dag);
    const std::vector<Index> task_of_level = kernels::join_levels(rows_of_level, std::max(expected.granularity, 1));
    EXPECT_EQ(kernels::first_positions(aggregation, expected.granularity, dag.rows(), rows_of_level, task_of_level),
              expected.first);
    if (expected.tasks() > 1500) return;  // pairs are a square
    std::vector<std::vector<bool>> waits(at(expected.tasks()), std::vector<bool>(at(expected.tasks()), false));
    for (Index i = 0; i < dag.rows(); ++i) {
      for (Offset e = dag.offsets[at(i)]; e < dag.offsets[at(i) + 1]; ++e) {
        waits[at(hierarchy.task_of_row[at(i)])][at(hierarchy.task_of_row[at(dag.columns[at(e)])])] = true;
      }
    }
    CoarseDag coarse;
    kernels::CoarseEdges edges(coarse);
    for (Index t = 0; t < expected.tasks(); ++t) {
      std::vector<Index> found;
      for (Index p = 0; p < t; ++p) {
        if (waits[at(t)][at(p)]) found.push_back(p);
      }
      edges.add(found);
    }
    EXPECT_EQ(coarse.predecessors, expected.predecessors);
    EXPECT_EQ(coarse.predecessor_offsets, expected.predecessor_offsets);
  });
}

TEST(AtaAggregation, TurnsEdgesAroundForThePushTraversal) {
  const FineDag dag = test::make_fine_dag(test::arrow(40), Triangle::upper);
  const FineDag successors = test::make_successors(dag);
  std::vector<std::vector<Index>> edges;
  std::vector<std::vector<Index>> turned;
  for (Index i = 0; i < dag.rows(); ++i) {
    for (Offset e = dag.offsets[at(i)]; e < dag.offsets[at(i) + 1]; ++e) {
      edges.push_back({dag.columns[at(e)], i, dag.entry[at(e)]});
    }
    for (Offset e = successors.offsets[at(i)]; e < successors.offsets[at(i) + 1]; ++e) {
      turned.push_back({i, successors.columns[at(e)], successors.entry[at(e)]});
    }
  }
  std::sort(edges.begin(), edges.end());
  EXPECT_EQ(edges.size(), 39U);
  EXPECT_EQ(turned, edges);  // producers ascend, then rows
}

TEST(AtaAggregation, NamesTheShapesOfThePaper) {
  constexpr Index kWide = 20;
  const auto class_of = [](const FineDag& dag) { return kernels::classify(test::rows_of_levels(dag), kWide); };
  EXPECT_EQ(class_of(test::make_fine_dag(test::tridiagonal(2000, 0, 1, 0), Triangle::lower)), DagClass::parallel);
  EXPECT_EQ(class_of(test::make_fine_dag(test::tridiagonal(99, 1, 2, 0), Triangle::lower)), DagClass::parallel);
  EXPECT_EQ(class_of(test::make_fine_dag(test::tridiagonal(100, 1, 2, 0), Triangle::lower)), DagClass::l_shape);
  // Five-point stencils have 109 levels, the widest 50 rows: most of them are wider than 20.
  const FineDag dag =
      test::make_fine_dag(make_stencil({.stencil = Stencil::five_point, .nx = 60, .ny = 50}), Triangle::lower);
  EXPECT_EQ(class_of(dag), DagClass::wide);
  EXPECT_EQ(kernels::classify(test::rows_of_levels(dag), 45), DagClass::l_shape);
}

TEST(AtaAggregation, StaysBelowItsLimitsWhereRowsDependOnMostOthers) {
  // Locality-aware tasks of a dense triangle: without the limit, nearly all pairs of tasks would be edges.
  constexpr Index kRows = 3000;
  CsrMatrix a{kRows, kRows, {0}, {}, {}};
  for (Index i = 0; i < kRows; ++i) {
    for (Index j = i % 2; j <= i; j += 2) {
      a.col_indices.push_back(j);
      a.values.push_back(1.0);
    }
    a.row_offsets.push_back(static_cast<Offset>(a.values.size()));
  }
  const FineDag dag = test::make_fine_dag(a, Triangle::lower);
  const HierarchicalDag hierarchy = aggregate(dag, Aggregation::locality, 1, mixed_lanes(kRows));
  EXPECT_GT(hierarchy.coarse.granularity, 1);
  EXPECT_GT(hierarchy.coarse.tasks(), 1);
  EXPECT_LE(static_cast<std::int64_t>(hierarchy.coarse.predecessors.size()), kernels::kMaxCoarseEdges);
}

TEST(TaskSize, OfEquationTwoIsWhatLaunchesTakeWithinItsBounds) {
  EXPECT_EQ(kernels::choose_granularity(100, 100, 0.5, 0.125, 1000), 400);
  EXPECT_EQ(kernels::choose_granularity(500, 100, 0.5, 0.125, 1000), 500);
  EXPECT_EQ(kernels::choose_granularity(100, 100, 0.5, 0.125, 300), 300);
  EXPECT_EQ(kernels::choose_granularity(100, 100, 0.5, 0.0, 1000), 100);
}

TEST(TaskSize, ByLevelsFillsTheWarpsAndHoldsSeveralLevels) {
  EXPECT_EQ(kernels::granularity_of_levels(5280, 1'000'000, 1999), 4 * 5280);  // short levels: warps decide
  EXPECT_EQ(kernels::granularity_of_levels(5280, 400'000, 16), 200'000);       // long levels
  EXPECT_EQ(kernels::granularity_of_levels(5280, 1000, 10), 1000);             // never more than there is
  EXPECT_EQ(kernels::granularity_of_levels(5280, 2'000'000'000, 1), 2'000'000'000);
  EXPECT_EQ(kernels::granularity_of_levels(5280, 0, 0), 1);
}

}  // namespace
}  // namespace taskdag
