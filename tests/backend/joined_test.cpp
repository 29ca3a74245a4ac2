// Joined levels: the pattern that is left, and its values.
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/index.hpp"
#include "device_fixture.hpp"
#include "device_triangle.hpp"
#include "kernels/sptrsv/schedules/cells/cells.hpp"
#include "kernels/sptrsv/schedules/joined_levels/join.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "taskdag/error.hpp"
#include "taskdag/factorization.hpp"
#include "taskdag/generators.hpp"
#include "taskdag/triangular.hpp"

namespace taskdag {
namespace {

using kernels::joined::join_levels;
using kernels::joined::JoinedTriangle;
using kernels::joined::JoinedValues;
using kernels::joined::most_terms;
using test::upload;

constexpr Triangle kTriangles[] = {Triangle::lower, Triangle::upper};

/// Rows of x_i = p_i b_i − Σ_j row[j] x_j − Σ_s pass[s] b_s.
struct Row {
  std::map<Index, double> row;
  std::map<Index, double> pass;
};

/// The rewriting as it is defined, row by row.
std::vector<Row> rewritten(const CsrMatrix& a, Triangle triangle, const std::vector<Index>& level,
                           const std::vector<double>& p) {
  std::vector<Row> rows(at(a.rows));
  const auto entries = [&](Index i, const auto& visit) {
    for (auto e = at(a.row_offsets[at(i)]); e < at(a.row_offsets[at(i) + 1]); ++e) {
      const Index j = a.col_indices[e];
      if (triangle == Triangle::lower ? j < i : j > i) visit(j, a.values[e]);
    }
  };
  for (Index i = 0; i < a.rows; ++i) {
    entries(i, [&](Index j, double value) {
      if (level[at(i)] % 2 == 0 || level[at(j)] != level[at(i)] - 1) {
        rows[at(i)].row[j] += p[at(i)] * value;
        return;
      }
      rows[at(i)].pass[j] = p[at(i)] * value * p[at(j)];
      entries(j, [&](Index k, double inner) { rows[at(i)].row[k] -= p[at(i)] * value * p[at(j)] * inner; });
    });
  }
  return rows;
}

class JoinedTest : public test::OnDevice<> {};

TEST_F(JoinedTest, RowsAreThoseOfTheDefinitionAndHalfTheLevelsAreLeft) {
  std::vector<test::Problem> problems = test::small_problems();
  for (test::Problem& random : test::random_triangles()) problems.push_back(std::move(random));
  problems.push_back({"27-point", make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 9, .ny = 7, .nz = 8})});
  for (const test::Problem& problem : problems) {
    const CsrMatrix& a = problem.a;
    if (a.rows == 0) continue;
    const std::vector<double> p = test::inverse_diagonal(a);
    for (const Triangle triangle : kTriangles) {
      SCOPED_TRACE(problem.name + (triangle == Triangle::lower ? ", lower" : ", upper"));
      const test::DeviceTriangle device(a, triangle, stream());
      const kernels::SweepInput input = device.input();
      const JoinedTriangle joined = join_levels(input, most_terms(input.pattern), stream());
      const auto level = cuda::fetch_array(input.levels->level.data(), at(a.rows), stream());
      const auto offsets = cuda::fetch_array(joined.row_offsets.data(), at(a.rows) + 1, stream());
      const auto columns = cuda::fetch_array(joined.col_indices.data(), at(joined.entries), stream());
      const auto pass_begin = cuda::fetch_array(joined.substituted_begin.data(), at(a.rows) + 1, stream());
      const auto pass_row = cuda::fetch_array(joined.substituted_row.data(), at(joined.substituted), stream());
      const JoinedValues values(joined, stream());
      const auto source = upload(a.values, stream());
      const auto pivot = upload(p, stream());
      load_values(joined, source.data(), pivot.data(), values, stream());
      const auto value = cuda::fetch_array(values.value.data(), at(joined.entries), stream());
      const auto coefficient = cuda::fetch_array(values.coefficient.data(), at(joined.substituted), stream());

      const std::vector<Row> expected = rewritten(a, triangle, level, p);
      for (Index i = 0; i < a.rows; ++i) {
        const Row& row = expected[at(i)];
        ASSERT_EQ(at(offsets[at(i) + 1] - offsets[at(i)]), row.row.size()) << "row " << i;
        auto e = at(offsets[at(i)]);
        for (const auto& [column, sum] : row.row) {  // columns ascend
          ASSERT_EQ(columns[e], column) << "row " << i;
          ASSERT_NEAR(value[e], sum, 1e-13 * (1.0 + std::abs(sum))) << "row " << i;
          ++e;
        }
        ASSERT_EQ(at(pass_begin[at(i) + 1] - pass_begin[at(i)]), row.pass.size()) << "row " << i;
        for (auto k = at(pass_begin[at(i)]); k < at(pass_begin[at(i) + 1]); ++k) {
          ASSERT_NEAR(coefficient[k], row.pass.at(pass_row[k]), 1e-13) << "row " << i;
        }
      }
      const kernels::DevicePattern remaining = joined.pattern();
      const auto ranges = kernels::find_triangle(remaining, triangle, stream());
      EXPECT_EQ(kernels::compute_levels(remaining, ranges, triangle, stream()).levels, (input.levels->levels + 1) / 2);
    }
  }
}

TEST_F(JoinedTest, FillBeyondMeasureIsRefused) {
  // Every row of the second level needs all of the first one, each of which needs many of its own.
  constexpr Index kWide = 200;
  CsrMatrix a;
  a.rows = a.cols = 3 * kWide;
  a.row_offsets = {0};
  for (Index i = 0; i < a.rows; ++i) {
    const Index first = i / kWide == 0 ? i : (i / kWide - 1) * kWide;
    const Index end = i / kWide == 0 ? i : i / kWide * kWide;
    for (Index j = first; j < end; ++j) {
      a.col_indices.push_back(j);
      a.values.push_back(0.001);
    }
    a.col_indices.push_back(i);
    a.values.push_back(1.0);
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  // Levels 0, 1, 2: the third block is of an even level; shifted by one more row at the front it is of an odd one.
  CsrMatrix shifted;
  shifted.rows = shifted.cols = a.rows + 1;
  shifted.row_offsets = {0, 1};
  shifted.col_indices = {0};
  shifted.values = {1.0};
  for (Index i = 0; i < a.rows; ++i) {
    if (i < kWide) {
      shifted.col_indices.push_back(0);
      shifted.values.push_back(0.001);
    }
    for (auto e = at(a.row_offsets[at(i)]); e < at(a.row_offsets[at(i) + 1]); ++e) {
      shifted.col_indices.push_back(a.col_indices[e] + 1);
      shifted.values.push_back(a.values[e]);
    }
    shifted.row_offsets.push_back(static_cast<Offset>(shifted.col_indices.size()));
  }
  const test::DeviceTriangle device(shifted, Triangle::lower, stream());
  EXPECT_EQ(device.input().levels->levels, 4);
  const kernels::SweepInput input = device.input();
  EXPECT_THROW(static_cast<void>(join_levels(input, most_terms(input.pattern), stream())), Unsupported);
}

/// Deep, with few rows a level; rows dominated by their diagonal, since rounding is that of rewritten rows.
CsrMatrix band() {
  CsrMatrix a = make_narrow_band_lower(100000, 0.14, 10, 3);
  for (Index i = 0; i < a.rows; ++i) {
    const auto begin = at(a.row_offsets[at(i)]);
    const auto end = at(a.row_offsets[at(i) + 1]);
    for (auto e = begin; e < end; ++e) {
      a.values[e] = a.col_indices[e] == i ? 1.0 : 0.5 / static_cast<double>(end - begin);
    }
  }
  return a;
}

TEST_F(JoinedTest, AutoTakesThemWhereALevelCostsMoreThanWhatIsInIt) {
  if (!kernels::cells_supported()) GTEST_SKIP() << "chosen by the estimate of cells, which this device cannot run";
  const Context context = Context::create({.backend = Backend::cuda});
  const struct {
    CsrMatrix a;
    SolveSchedule expected;
  } cases[] = {{band(), SolveSchedule::joined_levels},
               {make_stencil({.stencil = Stencil::seven_point, .nx = 60, .ny = 60, .nz = 60}), SolveSchedule::cells}};
  for (const auto& [a, expected] : cases) {
    const std::vector<double> b = test::right_hand_side(a.rows);
    for (const bool transposed : {false, true}) {
      TriangularOptions options;
      options.transposed = transposed;
      TriangularSolver solver(context, a.view(), MemorySpace::host, options);
      EXPECT_EQ(to_string(solver.info().schedule), std::string(to_string(expected)));
      std::vector<double> x(b.size());
      solver.solve(b.data(), x.data(), MemorySpace::host);
      EXPECT_LE(test::triangular_error(a, options, b, x), 1.0);
      CsrMatrix changed = a;
      changed.values = test::nudged(a.values);
      solver.update_values(changed.values.data(), MemorySpace::host);
      solver.solve(b.data(), x.data(), MemorySpace::host);
      EXPECT_LE(test::triangular_error(changed, options, b, x), 1.0);
    }
  }
}

/// The matrix with two small entries more, which couple the last row and row `other`.
CsrMatrix with_a_far_entry(const CsrMatrix& a, Index other) {
  constexpr double kValue = -1e-3;
  const Index last = a.rows - 1;
  CsrMatrix result;
  result.rows = result.cols = a.rows;
  for (Index i = 0; i < a.rows; ++i) {
    if (i == last) {
      result.col_indices.push_back(other);
      result.values.push_back(kValue);
    }
    for (auto e = at(a.row_offsets[at(i)]); e < at(a.row_offsets[at(i) + 1]); ++e) {
      result.col_indices.push_back(a.col_indices[e]);
      result.values.push_back(a.values[e]);
    }
    if (i == other) {
      result.col_indices.push_back(last);
      result.values.push_back(kValue);
    }
    result.row_offsets.push_back(static_cast<Offset>(result.values.size()));
  }
  return result;
}

TEST_F(JoinedTest, AutoLeavesAForwardSweepThatTheFactorisationNeeds) {
  if (!kernels::cells_supported()) GTEST_SKIP() << "chosen by the estimate of cells, which this device cannot run";
  // Of a 5-point grid only the diagonal changes, and cells compute it. With one entry more it has no bands.
  const CsrMatrix a = with_a_far_entry(make_stencil({.stencil = Stencil::five_point, .nx = 1000, .ny = 1000}), 4);
  const std::vector<double> b = test::right_hand_side(a.rows);
  std::vector<std::vector<double>> x;
  for (const Backend backend : {Backend::host, Backend::cuda}) {
    Factorization factorization(Context::create({.backend = backend}), a.pattern(), MemorySpace::host, {});
    ASSERT_EQ(factorization.factor(a.values.data(), MemorySpace::host).outcome, FactorOutcome::success);
    x.emplace_back(b.size());
    factorization.apply(Apply::full, b.data(), x.back().data(), MemorySpace::host);
    if (backend == Backend::host) continue;
    EXPECT_EQ(to_string(factorization.info().lower_schedule), std::string("cells"));
    EXPECT_EQ(to_string(factorization.info().upper_schedule), std::string("joined-levels"));
  }
  for (std::size_t i = 0; i < b.size(); ++i) ASSERT_NEAR(x[1][i], x[0][i], 1e-11 * std::abs(x[0][i])) << "row " << i;
}

}  // namespace
}  // namespace taskdag
