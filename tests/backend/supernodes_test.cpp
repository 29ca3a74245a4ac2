// Supernodes: which rows they hold, and sweeps whose diagonal blocks are inverted.
#include "kernels/sptrsv/schedules/supernodes/supernodes.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/index.hpp"
#include "kernels/sptrsv/schedules/cells/cells.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "sweep_fixture.hpp"
#include "taskdag/generators.hpp"
#include "taskdag/taskdag.hpp"

namespace taskdag {
namespace {

using kernels::CondensedTriangle;
using kernels::Sweep;
using kernels::SweepInput;
using test::upload;

/// Columns of a row on the side of the triangle.
std::vector<Index> operands(const CsrMatrix& a, Triangle triangle, Index row) {
  std::vector<Index> columns;
  for (auto e = at(a.row_offsets[at(row)]); e < at(a.row_offsets[at(row) + 1]); ++e) {
    const Index column = a.col_indices[e];
    if (triangle == Triangle::lower ? column < row : column > row) columns.push_back(column);
  }
  return columns;
}

/// Whether a row needs `previous` and otherwise what that row needs.
bool extends(const CsrMatrix& a, Triangle triangle, Index row, Index previous) {
  std::vector<Index> expected = operands(a, triangle, previous);
  expected.insert(triangle == Triangle::lower ? expected.end() : expected.begin(), previous);
  return operands(a, triangle, row) == expected;
}

/// A matrix whose rows all need each other.
CsrMatrix dense(Index rows) {
  CsrMatrix a;
  a.rows = a.cols = rows;
  a.row_offsets = {0};
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < rows; ++j) {
      a.col_indices.push_back(j);
      a.values.push_back(i == j ? 2.0 : 0.5 / rows * ((i + 2 * j) % 5 - 2));
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  return a;
}

std::vector<StencilSpec> meshes() {
  return {{.stencil = Stencil::five_point, .nx = 21, .ny = 33, .unknowns_per_node = 4},
          {.stencil = Stencil::seven_point, .nx = 9, .ny = 10, .nz = 11, .unknowns_per_node = 3},
          {.stencil = Stencil::seven_point, .nx = 8, .ny = 7, .nz = 5, .unknowns_per_node = 7, .wind = 0.5},
          {.stencil = Stencil::twenty_seven_point, .nx = 8, .ny = 13, .nz = 7, .unknowns_per_node = 2},
          {.stencil = Stencil::twenty_seven_point, .nx = 7, .ny = 6, .nz = 5, .unknowns_per_node = 5},
          {.stencil = Stencil::twenty_seven_point, .nx = 5, .ny = 4, .nz = 4, .unknowns_per_node = 8},
          {.stencil = Stencil::five_point, .nx = 12, .ny = 9, .unknowns_per_node = 11}};
}

constexpr Triangle kTriangles[] = {Triangle::lower, Triangle::upper};

class SupernodesTest : public test::OnSweeps<> {
 protected:
  CondensedTriangle condense(const SweepInput& input) {
    return {input, kernels::supernodes::find(input, stream()), stream()};
  }

  std::unique_ptr<Sweep> make(const SweepInput& input, SolveSchedule inner) {
    const CondensedTriangle condensed = condense(input);
    return make_supernodes_sweep(
        input, condensed, [&](const SweepInput& remaining) { return kernels::make_sweep(inner, remaining, stream()); },
        stream());
  }

  /// Schedules that may run what supernodes leave.
  static std::vector<SolveSchedule> inner_schedules() {
    std::vector<SolveSchedule> schedules{SolveSchedule::flat};
    if (kernels::cells_supported()) schedules.push_back(SolveSchedule::cells);
    return schedules;
  }
};

TEST_F(SupernodesTest, NodesOfAMeshAreFoundAndTheirRowsShareALevel) {
  for (const StencilSpec& spec : meshes()) {
    const CsrMatrix a = make_stencil(spec);
    StencilSpec scalar = spec;
    scalar.unknowns_per_node = 1;
    const CsrMatrix nodes = make_stencil(scalar);
    for (const Triangle triangle : kTriangles) {
      SCOPED_TRACE(std::to_string(spec.unknowns_per_node) + " unknowns");
      const test::DeviceTriangle device(a, triangle, stream());
      const CondensedTriangle condensed = condense(device.input());
      EXPECT_EQ(condensed.found.most_rows, std::min(spec.unknowns_per_node, kernels::supernodes::kMostRows));
      EXPECT_GT(condensed.found.share, 0.99);
      if (spec.unknowns_per_node > kernels::supernodes::kMostRows) continue;
      EXPECT_EQ(condensed.levels.levels, test::DeviceTriangle(nodes, triangle, stream()).input().levels->levels);
      const auto place = cuda::fetch_array(condensed.found.number.data(), at(a.rows), stream());
      for (Index i = 0; i < a.rows; ++i) {
        const Index s = triangle == Triangle::lower ? i : a.rows - 1 - i;
        ASSERT_EQ(place[at(i)], s % spec.unknowns_per_node) << "row " << i;
      }
    }
  }
}

TEST_F(SupernodesTest, RowsOfASupernodeHaveTheSameOuterOperandsWhateverTheMatrix) {
  std::vector<test::Problem> problems = test::small_problems();
  for (test::Problem& random : test::random_triangles()) problems.push_back(std::move(random));
  problems.push_back({"dense", dense(77)});
  for (const test::Problem& problem : problems) {
    const CsrMatrix& a = problem.a;
    if (a.rows == 0) continue;
    for (const Triangle triangle : kTriangles) {
      SCOPED_TRACE(problem.name);
      const test::DeviceTriangle device(a, triangle, stream());
      const SweepInput input = device.input();
      const auto found = kernels::supernodes::find(input, stream());
      const auto n = at(a.rows);
      const auto place = cuda::fetch_array(found.number.data(), n, stream());
      const auto first = cuda::fetch_array(found.outer.first.data(), n, stream());
      const auto count = cuda::fetch_array(found.outer.count.data(), n, stream());
      Index linked = 0;
      Index chain = 0;
      for (Index s = 0; s < a.rows; ++s) {
        const auto row_of = [&](Index number) { return triangle == Triangle::lower ? number : a.rows - 1 - number; };
        const Index row = row_of(s);
        const bool extended = s > 0 && extends(a, triangle, row, row_of(s - 1));
        chain = extended ? chain + 1 : 0;
        ASSERT_EQ(place[at(row)], chain % found.most_rows) << "row " << row;
        const bool alone = !extended && (s + 1 == a.rows || !extends(a, triangle, row_of(s + 1), row));
        if (!alone) ++linked;
        const std::vector<Index> outer = operands(a, triangle, row_of(s - place[at(row)]));
        ASSERT_EQ(at(count[at(row)]), outer.size()) << "row " << row;
        for (std::size_t e = 0; e < outer.size(); ++e) {
          ASSERT_EQ(a.col_indices[at(first[at(row)]) + e], outer[e]) << "row " << row;
        }
      }
      EXPECT_NEAR(found.share, static_cast<double>(linked) / a.rows, 1e-12);
    }
  }
}

TEST_F(SupernodesTest, SweepsAreRightWhateverRunsWhatIsLeft) {
  for (const StencilSpec& spec : meshes()) {
    CsrMatrix a = make_stencil(spec);
    const std::vector<double> b = test::right_hand_side(a.rows);
    for (const Triangle triangle : kTriangles) {
      const test::DeviceTriangle device(a, triangle, stream());
      for (const SolveSchedule inner : inner_schedules()) {
        SCOPED_TRACE(std::to_string(spec.unknowns_per_node) + " unknowns, " + to_string(inner));
        const auto sweep = make(device.input(), inner);
        CsrMatrix changed = a;
        for (const bool unit : {false, true, false}) {
          load(*sweep, changed.values, unit ? std::vector<double>() : test::inverse_diagonal(changed));
          const TriangularOptions options{.triangle = triangle, .unit_diagonal = unit};
          EXPECT_LE(test::triangular_error(changed, options, b, solve(*sweep, b)), 1.0);
          EXPECT_FALSE(non_finite_);
          changed.values =
              test::made_dominant({a.rows, a.cols, a.row_offsets, a.col_indices, test::other_values(changed.values)})
                  .values;
        }
      }
    }
  }
}

TEST_F(SupernodesTest, ChainsLongerThanASupernodeAreCut) {
  const CsrMatrix a = dense(203);
  const std::vector<double> b = test::right_hand_side(a.rows);
  for (const Triangle triangle : kTriangles) {
    const test::DeviceTriangle device(a, triangle, stream());
    EXPECT_EQ(condense(device.input()).levels.levels, (203 + 7) / 8);
    const auto sweep = make(device.input(), SolveSchedule::flat);
    load(*sweep, a.values, test::inverse_diagonal(a));
    EXPECT_LE(test::triangular_error(a, {.triangle = triangle}, b, solve(*sweep, b)), 1.0);
  }
}

TEST_F(SupernodesTest, ANumberThatIsNotFiniteSpoilsWhatDependsOnItAndNothingElse) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 20, .ny = 15, .unknowns_per_node = 3});
  const test::DeviceTriangle device(a, Triangle::lower, stream());
  const std::vector<double> good = test::right_hand_side(a.rows);
  const auto sweep = make(device.input(), SolveSchedule::flat);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (const Index row : {a.rows / 2, a.rows / 2 + 1, a.rows / 2 + 2}) {
      load(*sweep, a.values, test::inverse_diagonal(a));
      std::vector<double> b = good;
      b[at(row)] = bad;
      const std::vector<double> x = solve(*sweep, b);
      EXPECT_TRUE(non_finite_);
      const std::vector<double> expected = test::reference_solve(a, {}, b);
      for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(std::isfinite(x[i]), std::isfinite(expected[i])) << "row " << i;
      }
      CsrMatrix spoilt = a;
      spoilt.values[at(a.row_offsets[at(row)])] = bad;
      load(*sweep, spoilt.values, test::inverse_diagonal(a));
      EXPECT_EQ(std::isfinite(solve(*sweep, good).back()),
                std::isfinite(test::reference_solve(spoilt, {}, good).back()));
      EXPECT_TRUE(non_finite_);
    }
  }
}

TEST_F(SupernodesTest, AutoTakesThemWhereADeepMeshHasSeveralUnknownsANode) {
  if (!kernels::cells_supported()) GTEST_SKIP() << "chosen by the estimate of cells, which this device cannot run";
  const Context context = Context::create({.backend = Backend::cuda});
  for (const Index unknowns : {1, 4}) {
    const CsrMatrix a =
        make_stencil({.stencil = Stencil::five_point, .nx = 150, .ny = 150, .unknowns_per_node = unknowns});
    const std::vector<double> b = test::right_hand_side(a.rows);
    for (const bool transposed : {false, true}) {
      TriangularOptions options;
      options.transposed = transposed;
      TriangularSolver solver(context, a.view(), MemorySpace::host, options);
      EXPECT_EQ(solver.info().schedule == SolveSchedule::supernodes, unknowns > 1);
      std::vector<double> x(b.size());
      solver.solve(b.data(), x.data(), MemorySpace::host);
      EXPECT_LE(test::triangular_error(a, options, b, x), 1.0);
    }
  }
}

}  // namespace
}  // namespace taskdag
