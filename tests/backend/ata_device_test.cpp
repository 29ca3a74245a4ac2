// The aggregation of ATA on the device gives what the reference on the host gives, array for array.
#include <gtest/gtest.h>

#include <algorithm>

#include "ata_reference.hpp"
#include "base/index.hpp"
#include "device_fixture.hpp"
#include "device_triangle.hpp"
#include "papers/helal/aggregation.hpp"
#include "problems.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

using kernels::Aggregation;
using test::DeviceTriangle;
using test::Problem;
using test::upload;

constexpr Aggregation kAggregations[] = {Aggregation::by_level, Aggregation::sweep_order, Aggregation::concurrency,
                                         Aggregation::locality, Aggregation::greedy};
constexpr Index kGranularities[] = {1, 3, 32, 1000, 1 << 30};
constexpr int kEntriesPerLane = 4;

/// A row that waits for all rows before it, in the middle of a chain.
CsrMatrix dense_row(Index rows) {
  CsrMatrix a{rows, rows, {0}, {}, {}};
  for (Index i = 0; i < rows; ++i) {
    for (Index j = i == rows / 2 ? 0 : std::max(i - 1, 0); j <= i; ++j) a.col_indices.push_back(j);
    a.values.resize(a.col_indices.size(), 1.0);
    a.row_offsets.push_back(static_cast<Offset>(a.values.size()));
  }
  return a;
}

/// Rows wait for every second row before them: coarse edges between nearly all tasks of neighbours.
CsrMatrix half_dense(Index rows) {
  CsrMatrix a{rows, rows, {0}, {}, {}};
  for (Index i = 0; i < rows; ++i) {
    for (Index j = i % 2; j <= i; j += 2) a.col_indices.push_back(j);
    a.values.resize(a.col_indices.size(), 1.0);
    a.row_offsets.push_back(static_cast<Offset>(a.values.size()));
  }
  return a;
}

std::vector<Problem> problems() {
  std::vector<Problem> result = test::small_problems();  // no row and one row among them
  result.push_back({"dense row", dense_row(9000)});
  result.push_back({"R-MAT", make_rmat({.scale = 11})});
  result.push_back({"wide grid", make_stencil({.stencil = Stencil::five_point, .nx = 400, .ny = 40})});
  return result;
}

template <class T>
std::vector<T> fetched(const T* array, std::size_t size, cudaStream_t stream) {
  return cuda::fetch_array(array, size, stream);
}

class AtaDeviceTest : public test::OnDevice<> {
 protected:
  [[nodiscard]] kernels::FineDag fine_dag(const DeviceTriangle& system) const {
    const kernels::SweepInput input = system.input();
    return kernels::make_fine_dag(input.pattern, input.triangle, *input.ranges, *input.levels, stream());
  }

  /// `lanes`: the reference's; `dag`: of the same triangle as `reference`.
  void expect_reference(const test::FineDag& reference, const kernels::FineDag& dag, Aggregation aggregation,
                        Index granularity, const std::vector<std::uint8_t>& lanes) const {
    const test::HierarchicalDag expected = test::aggregate(reference, aggregation, granularity, lanes);
    const auto device_lanes = upload(lanes, stream());
    const kernels::HierarchicalDag found =
        kernels::aggregate(dag, aggregation, granularity, device_lanes.data(), stream());
    EXPECT_EQ(found.coarse.granularity, expected.coarse.granularity);
    EXPECT_EQ(found.coarse.first, expected.coarse.first);
    EXPECT_EQ(found.coarse.tracked, expected.coarse.tracked);
    EXPECT_EQ(found.coarse.predecessor_offsets, expected.coarse.predecessor_offsets);
    EXPECT_EQ(found.coarse.predecessors, expected.coarse.predecessors);
    EXPECT_EQ(found.coarse.fine_edges, expected.coarse.fine_edges);
    const std::size_t rows = at(dag.rows);
    ASSERT_EQ(found.rows.order.size(), rows);
    EXPECT_EQ(fetched(found.rows.order.data(), rows, stream()), expected.order);
    EXPECT_EQ(fetched(found.task_of_row.data(), rows, stream()), expected.task_of_row);
    expect_inside(reference, expected, fetched(found.inside.data(), rows, stream()));
    expect_row_tasks(test::make_row_tasks(reference, expected, lanes), found.rows);
  }

 private:
  static void expect_inside(const test::FineDag& reference, const test::HierarchicalDag& hierarchy,
                            const std::vector<Index>& found) {
    std::vector<Index> expected(found.size(), 0);
    for (Index i = 0; i < reference.rows(); ++i) {
      for (Offset e = reference.offsets[at(i)]; e < reference.offsets[at(i) + 1]; ++e) {
        const Index other = reference.columns[at(e)];
        if (hierarchy.task_of_row[at(other)] == hierarchy.task_of_row[at(i)]) ++expected[at(i)];
      }
    }
    EXPECT_EQ(found, expected);
  }

  void expect_row_tasks(const test::RowTaskList& expected, const kernels::SetOrder& found) const {
    if (!expected.task.empty()) {
      EXPECT_EQ(fetched(found.first.data(), found.first.size(), stream()), expected.first);
    }
    const auto task = fetched(found.task.data(), found.task.size(), stream());
    ASSERT_EQ(task.size(), expected.task.size());
    for (std::size_t k = 0; k < task.size(); ++k) {
      ASSERT_EQ(task[k].first, expected.task[k].first) << k;
      ASSERT_EQ(task[k].rows, expected.task[k].rows) << k;
      ASSERT_EQ(task[k].log2_lanes, expected.task[k].log2_lanes) << k;
    }
  }
};

/// The fewest lanes with which none has more than kEntriesPerLane edges.
std::vector<std::uint8_t> reference_lanes(const test::FineDag& edges) {
  std::vector<std::uint8_t> lanes(edges.level.size(), 0);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    while (lanes[i] < 5 && (kEntriesPerLane << lanes[i]) < edges.offsets[i + 1] - edges.offsets[i]) ++lanes[i];
  }
  return lanes;
}

/// Lanes that mix within levels.
std::vector<std::uint8_t> mixed_lanes(Index rows) {
  std::vector<std::uint8_t> lanes(at(rows));
  for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = static_cast<std::uint8_t>(i * 7 % 11 % 6);
  return lanes;
}

TEST_F(AtaDeviceTest, AggregatesLikeTheReference) {
  for (const Problem& problem : problems()) {
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      const test::FineDag reference = test::make_fine_dag(problem.a, triangle);
      const DeviceTriangle system(problem.a, triangle, stream());
      const kernels::FineDag dag = fine_dag(system);
      EXPECT_EQ(dag.edges, reference.edges());
      EXPECT_EQ(dag.rows_of_level, test::rows_of_levels(reference));
      for (const Aggregation aggregation : kAggregations) {
        for (const Index granularity : kGranularities) {
          SCOPED_TRACE(problem.name + (triangle == Triangle::lower ? ", lower" : ", upper") + ", policy " +
                       std::to_string(static_cast<int>(aggregation)) + ", S = " + std::to_string(granularity));
          expect_reference(reference, dag, aggregation, granularity, mixed_lanes(dag.rows));
          expect_reference(reference, dag, aggregation, granularity, reference_lanes(reference));
          ASSERT_FALSE(HasFailure());
        }
      }
    }
  }
}

/// Adaptive task, level and lanes together are more than 32 bits of a key.
TEST_F(AtaDeviceTest, SortsByLongKeys) {
  const CsrMatrix chain = test::tridiagonal(300000, -1, 3, -1);
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    const test::FineDag reference = test::make_fine_dag(chain, triangle);
    const DeviceTriangle system(chain, triangle, stream());
    expect_reference(reference, fine_dag(system), Aggregation::locality, 1, mixed_lanes(chain.rows));
  }
}

TEST_F(AtaDeviceTest, StaysBelowTheLimitOfCoarseEdges) {
  const CsrMatrix a = half_dense(3000);
  const test::FineDag reference = test::make_fine_dag(a, Triangle::lower);
  const DeviceTriangle system(a, Triangle::lower, stream());
  expect_reference(reference, fine_dag(system), Aggregation::locality, 1, mixed_lanes(a.rows));
}

/// By row: other row, entry. `order` and `marked` as in order_edges().
using Edges = std::vector<std::vector<Index>>;
Edges edges_of(const test::FineDag& dag) {
  Edges result(dag.level.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    for (auto e = at(dag.offsets[i]); e < at(dag.offsets[i + 1]); ++e) {
      result[i].push_back(dag.columns[e]);
      result[i].push_back(dag.entry[e]);
    }
  }
  return result;
}

TEST_F(AtaDeviceTest, TurnsEdgesAroundAndOrdersThem) {
  for (const Problem& problem : problems()) {
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      SCOPED_TRACE(problem.name + (triangle == Triangle::lower ? ", lower" : ", upper"));
      if (problem.a.rows == 0) continue;
      const test::FineDag reference = test::make_fine_dag(problem.a, triangle);
      const test::FineDag turned = test::make_successors(reference);
      const DeviceTriangle system(problem.a, triangle, stream());
      const kernels::FineDag dag = fine_dag(system);
      const kernels::Successors successors = kernels::make_successors(dag, stream());
      const std::size_t rows = at(dag.rows);
      std::vector<Index> order(rows);
      std::vector<Index> task(rows);
      std::vector<Offset> source_entry(problem.a.values.size());
      for (std::size_t i = 0; i < rows; ++i) {
        order[i] = static_cast<Index>(rows - 1 - i);
        task[i] = static_cast<Index>(i / 7);
      }
      for (std::size_t e = 0; e < source_entry.size(); ++e) source_entry[e] = static_cast<Offset>(3 * e);
      const auto device_order = upload(order, stream());
      const auto device_task = upload(task, stream());
      const auto device_source = upload(source_entry, stream());
      for (const bool push : {false, true}) {
        const Edges expected = edges_of(push ? turned : reference);
        const kernels::OrderedEdges found = kernels::order_edges(
            dag.rows, push ? kernels::edges_of(successors) : kernels::operands(dag), device_order.data(),
            push ? device_task.data() : nullptr, push ? device_source.data() : nullptr, stream());
        const auto first = fetched(found.first.data(), rows + 1, stream());
        const auto column = fetched(found.column.data(), found.column.size(), stream());
        const auto source = fetched(found.source.data(), found.source.size(), stream());
        ASSERT_EQ(at(first.back()), column.size());
        for (std::size_t p = 0; p < rows; ++p) {
          std::vector<Index> row;
          for (auto e = at(first[p]); e < at(first[p + 1]); ++e) {
            const Index other = column[e] < 0 ? ~column[e] : column[e];
            ASSERT_EQ(column[e] < 0, push && task[at(other)] == task[at(order[p])]);
            row.push_back(other);
            row.push_back(push ? source[e] / 3 : source[e]);
          }
          ASSERT_EQ(row, expected[at(order[p])]);
        }
      }
    }
  }
}

TEST_F(AtaDeviceTest, GivesRowsTheFewestLanes) {
  for (const Problem& problem : problems()) {
    SCOPED_TRACE(problem.name);
    const test::FineDag reference = test::make_fine_dag(problem.a, Triangle::lower);
    const DeviceTriangle system(problem.a, Triangle::lower, stream());
    const kernels::FineDag dag = fine_dag(system);
    const kernels::RowLanes found = kernels::lanes_of_rows(dag.rows, dag.count, kEntriesPerLane, stream());
    const std::vector<std::uint8_t> expected = reference_lanes(reference);
    EXPECT_EQ(fetched(found.log2.data(), found.log2.size(), stream()), expected);
    double lanes = 0.0;
    for (const std::uint8_t log2 : expected) lanes += static_cast<double>(1 << log2);
    EXPECT_EQ(found.rows_per_warp, expected.empty() ? 1.0 : 32.0 * static_cast<double>(expected.size()) / lanes);
    const kernels::RowLanes warps = kernels::lanes_of_rows(dag.rows, dag.count, 0, stream());
    EXPECT_EQ(warps.rows_per_warp, 1.0);
    EXPECT_EQ(fetched(warps.log2.data(), warps.log2.size(), stream()), std::vector<std::uint8_t>(expected.size(), 5));
  }
}

}  // namespace
}  // namespace taskdag
