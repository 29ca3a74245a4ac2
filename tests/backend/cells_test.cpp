// Cells of any number and any shape of dependencies against the serial reference.
#include "kernels/sptrsv/schedules/cells/cells.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends.hpp"
#include "backends/cuda/stream.hpp"
#include "base/index.hpp"
#include "device_fixture.hpp"
#include "device_triangle.hpp"
#include "kernels/sptrsv/schedules/cells/cut/cost.hpp"
#include "kernels/sptrsv/schedules/cells/cut/late.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

using test::Problem;
using test::upload;

class CellsTest : public test::OnDevice<> {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (!IsSkipped() && !kernels::cells_supported()) GTEST_SKIP() << "this device cannot run cells";
  }

  void expect_right(const Problem& problem, Triangle triangle, const kernels::CellsOptions& options, int solves) {
    SCOPED_TRACE(problem.name + (triangle == Triangle::lower ? ", lower, " : ", upper, ") +
                 std::to_string(options.cells) + " cells, tiles of " + std::to_string(options.tile.lines) + " x " +
                 std::to_string(options.tile.planes));
    expect_right(problem, triangle, solves,
                 [&](const kernels::SweepInput& input) { return kernels::make_cells_sweep(input, options, stream()); });
  }

  using Make = std::function<std::unique_ptr<kernels::Sweep>(const kernels::SweepInput&)>;
  void expect_right(const Problem& problem, Triangle triangle, int solves, const Make& make) {
    const std::vector<double> b = test::right_hand_side(problem.a.rows);
    const test::DeviceTriangle on_device(problem.a, triangle, stream());
    const auto sweep = make(on_device.input());
    const auto values = upload(problem.a.values, stream());
    const auto pivots = upload(test::inverse_diagonal(problem.a), stream());
    sweep->load_values(values.data(), pivots.data(), stream());
    const auto rhs = upload(b, stream());
    const auto flag = upload(std::vector<int>{0}, stream());
    for (int k = 0; k < solves; ++k) {
      const auto x = upload(std::vector<double>(b.size(), -7.0), stream());
      sweep->solve(rhs.data(), x.data(), flag.data(), stream());
      ASSERT_LE(
          test::triangular_error(problem.a, {.triangle = triangle}, b, cuda::fetch_array(x.data(), b.size(), stream())),
          1.0);
    }
    EXPECT_EQ(cuda::fetch(flag.data(), stream()), 0);
  }
};

/// Rows 1 on the diagonal and `weight` in the columns that below(i) names, ascending and smaller than i.
template <class Below>
CsrMatrix unit_lower(Index rows, double weight, const Below& below) {
  CsrMatrix a{rows, rows, {0}, {}, {}};
  for (Index i = 0; i < rows; ++i) {
    for (const Index j : below(i)) {
      a.col_indices.push_back(j);
      a.values.push_back(weight);
    }
    a.col_indices.push_back(i);
    a.values.push_back(1.0);
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  return a;
}

TEST_F(CellsTest, AnyNumberOfThemSolvesEveryShape) {
  std::vector<Problem> problems = test::small_problems();
  for (Problem& random : test::random_triangles()) problems.push_back(std::move(random));
  for (const Problem& problem : problems) {
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      for (const int cells : {1, 2, 7, 133, 100000}) expect_right(problem, triangle, {.cells = cells}, 3);
      for (const int ways : {2, 4}) expect_right(problem, triangle, {.cells = 7, .ways = ways}, 3);
    }
  }
}

TEST_F(CellsTest, OperandsThatTheRingHasForgottenAreWaitedFor) {
  // A chain in which each row also needs one, or many, that ran long before in the same cell.
  for (const Index many : {1, 40, 300}) {
    const CsrMatrix a = unit_lower(6000, -0.002, [&](Index i) {
      std::vector<Index> below;
      for (Index j = std::max(0, i - 1000 - many); j < i - 1000; ++j) below.push_back(j);
      if (i > 0) below.push_back(i - 1);
      return below;
    });
    for (const int cells : {1, 3}) {
      for (const int ways : {1, 2, 4}) {
        expect_right({"far operands", a}, Triangle::lower, {.cells = cells, .ways = ways}, 3);
      }
    }
  }
}

TEST_F(CellsTest, ResultsAreWrittenOutWhereAllRowsWaitForAnotherCell) {
  // Nothing but fetched operands, all there at once: the compute warp is as fast as it can be, and full steps leave no
  // idle lane.
  constexpr Index kFirst = 100000;
  const CsrMatrix a = unit_lower(4 * kFirst, -0.5, [&](Index i) {
    return i < kFirst ? std::vector<Index>() : std::vector<Index>{(i * 7) % kFirst};
  });
  for (const int cells : {2, 5, 132}) expect_right({"two levels", a}, Triangle::lower, {.cells = cells}, 20);
}

Triangle other(Triangle triangle) { return triangle == Triangle::lower ? Triangle::upper : Triangle::lower; }

/// The levels of the rows counted from the end: one less than the lowest of the rows that wait for it, the last level
/// where none does.
std::vector<Index> levels_from_end(const CsrMatrix& a, Triangle triangle, Index levels) {
  std::vector<Index> level(at(a.rows), levels - 1);
  for (Index step = a.rows - 1; step >= 0; --step) {
    const Index i = triangle == Triangle::lower ? step : a.rows - 1 - step;
    for (auto e = at(a.row_offsets[at(i)]); e < at(a.row_offsets[at(i) + 1]); ++e) {
      const Index j = a.col_indices[e];
      if (triangle == Triangle::lower ? j < i : j > i) level[at(j)] = std::min(level[at(j)], level[at(i)] - 1);
    }
  }
  return level;
}

TEST_F(CellsTest, LateLevelsCountFromTheEnd) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 9, .ny = 8, .nz = 7});
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    const test::DeviceTriangle here(a, triangle, stream());
    const test::DeviceTriangle there(a, other(triangle), stream());
    const auto late = kernels::cells::late_levels(here.input(), *there.input().levels, stream());
    ASSERT_TRUE(late);
    EXPECT_EQ(late->levels, here.input().levels->levels);
    EXPECT_EQ(cuda::fetch_array(late->level.data(), late->level.size(), stream()),
              levels_from_end(a, triangle, late->levels));
  }
}

TEST_F(CellsTest, LevelsOfOtherDependenciesAreNoLateOnes) {
  CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 30, .ny = 30});
  // Row 500 waits for row 499 and for row 0, which knows nothing of it: the other triangle is not the mirror image.
  auto& column = a.col_indices[at(a.row_offsets[500])];
  ASSERT_EQ(column, 470);
  column = 0;
  const test::DeviceTriangle lower(a, Triangle::lower, stream());
  const test::DeviceTriangle random(make_erdos_renyi_lower(900, 1e-2, 5), Triangle::upper, stream());
  EXPECT_FALSE(kernels::cells::late_levels(lower.input(), *random.input().levels, stream())) << "all of one level";
  const test::DeviceTriangle upper(a, Triangle::upper, stream());
  EXPECT_TRUE(kernels::cells::late_levels(lower.input(), *upper.input().levels, stream()))
      << "levels that ascend along every entry serve, wherever they come from";
}

TEST_F(CellsTest, AnyLevelsThatAscendAlongEntriesSolve) {
  for (const Problem& problem : test::small_problems()) {
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      const test::DeviceTriangle there(problem.a, other(triangle), stream());
      for (const int cells : {1, 7, 200}) {
        SCOPED_TRACE(problem.name + ", " + std::to_string(cells));
        expect_right(problem, triangle, 2, [&](const kernels::SweepInput& input) {
          kernels::cells::Cut cut{cells, {}, 1, nullptr};
          if (auto late = kernels::cells::late_levels(input, *there.input().levels, stream())) {
            cut.late = std::make_shared<const kernels::RowLevels>(std::move(*late));
          }
          return kernels::make_sweep_of_cells(input, cut, stream());
        });
      }
    }
  }
}

TEST_F(CellsTest, RowsThatNothingWaitsForRunLateWhereThatEvensCellsOut) {
  // A chain through all cells; behind each link many rows that nothing waits for. By their usual levels they are the
  // widest in one cell after the other.
  constexpr Index kParts = 132;
  constexpr Index kLinks = 20;
  constexpr Index kLeaves = 700;
  constexpr Index kPart = kLinks + kLeaves;
  std::vector<std::vector<Index>> couplings(at(kParts * kPart));
  const auto couple = [&](Index i, Index j) {
    couplings[at(i)].push_back(j);
    couplings[at(j)].push_back(i);
  };
  for (Index part = 0; part < kParts; ++part) {
    const Index first = part * kPart;
    if (part > 0) couple(first, first - kPart + kLinks - 1);
    for (Index k = 1; k < kPart; ++k) couple(first + k, first + std::min(k, kLinks) - 1);
  }
  CsrMatrix a{kParts * kPart, kParts * kPart, {0}, {}, {}};
  for (Index i = 0; i < a.rows; ++i) {
    auto& row = couplings[at(i)];
    row.push_back(i);
    std::ranges::sort(row);
    for (const Index j : row) {
      a.col_indices.push_back(j);
      a.values.push_back(i == j ? 2.0 : -1e-3);
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  const test::DeviceTriangle lower(a, Triangle::lower, stream());
  const test::DeviceTriangle upper(a, Triangle::upper, stream());
  kernels::SweepInput input = lower.input();
  EXPECT_FALSE(kernels::cells::estimate(input, stream()).cut.late) << "nobody knows of late levels";
  input.mirrored = [&]() -> const kernels::RowLevels& { return *upper.input().levels; };
  const kernels::cells::Cut cut = kernels::cells::estimate(input, stream()).cut;
  EXPECT_TRUE(cut.late);
  expect_right({"leaves", a}, Triangle::lower, 3,
               [&](const kernels::SweepInput& same) { return kernels::make_sweep_of_cells(same, cut, stream()); });
}

TEST_F(CellsTest, ReciprocalsOfTheSumsAreARecurrence) {
  for (const Problem& problem : test::small_problems()) {
    const CsrMatrix& a = problem.a;
    // Far from zero: 1 / (4 + …) of small entries.
    std::vector<double> small(a.values);
    for (double& value : small) value = 0.01 / (1.0 + std::abs(value));
    const std::vector<double> rhs(at(a.rows), 4.0);
    std::vector<double> expected(at(a.rows));
    for (Index i = 0; i < a.rows; ++i) {
      double sum = rhs[at(i)];
      for (auto e = at(a.row_offsets[at(i)]); e < at(a.row_offsets[at(i) + 1]); ++e) {
        if (a.col_indices[e] < i) sum -= small[e] * expected[at(a.col_indices[e])];
      }
      expected[at(i)] = 1.0 / sum;
    }
    SCOPED_TRACE(problem.name);
    const test::DeviceTriangle on_device(a, Triangle::lower, stream());
    const auto values = upload(small, stream());
    const auto device_rhs = upload(rhs, stream());
    const auto flag = upload(std::vector<int>{0}, stream());
    for (const int cells : {1, 7}) {
      const auto sweep = kernels::make_cells_sweep(on_device.input(), {.cells = cells}, stream());
      sweep->load_values(values.data(), nullptr, stream());
      kernels::SolvesReciprocals* const reciprocals = sweep->capabilities().solves_reciprocals;
      ASSERT_NE(reciprocals, nullptr);
      for (int repeat = 0; repeat < 2; ++repeat) {
        const cuda::DeviceArray<double> by_row(at(a.rows), stream());
        reciprocals->solve_reciprocals(device_rhs.data(), by_row.data(), flag.data(), stream());
        if (a.rows == 0) continue;
        const auto index = cuda::fetch_array(sweep->result_index(), at(a.rows), stream());
        const auto most = at(*std::ranges::max_element(index)) + 1;
        const auto result = cuda::fetch_array(sweep->result(), most, stream());
        std::vector<double> x(at(a.rows));
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = result[at(index[i])];
        EXPECT_LE(test::difference(x, expected), test::kForwardBound);
        EXPECT_TRUE(test::same_bits(cuda::fetch_array(by_row.data(), at(a.rows), stream()), x));
      }
    }
    const auto shared = kernels::make_cells_sweep(on_device.input(), {.cells = 2, .ways = 2}, stream());
    EXPECT_EQ(shared->capabilities().solves_reciprocals, nullptr) << "lanes share rows";
  }
}

TEST_F(CellsTest, ReciprocalsOfExtremeNumbersAreThoseOfTheHost) {
  std::vector<double> rhs{0.0, -0.0, std::nan(""), INFINITY, -INFINITY, 1.0, -3.0};
  for (int exponent = -1074; exponent <= 1023; ++exponent)
    rhs.push_back(std::ldexp(exponent % 2 ? 1.1 : -1.9, exponent));
  const auto rows = static_cast<Index>(rhs.size());
  CsrMatrix a{rows, rows, {0}, {}, {}};
  for (Index i = 0; i < rows; ++i) {
    a.col_indices.push_back(i);
    a.values.push_back(1.0);
    a.row_offsets.push_back(i + 1);
  }
  const test::DeviceTriangle on_device(a, Triangle::lower, stream());
  const auto sweep = kernels::make_cells_sweep(on_device.input(), {.cells = 3}, stream());
  const auto device_rhs = upload(rhs, stream());
  const auto flag = upload(std::vector<int>{0}, stream());
  const cuda::DeviceArray<double> x(rhs.size(), stream());
  sweep->load_values(upload(a.values, stream()).data(), nullptr, stream());
  kernels::SolvesReciprocals* const reciprocals = sweep->capabilities().solves_reciprocals;
  ASSERT_NE(reciprocals, nullptr);
  reciprocals->solve_reciprocals(device_rhs.data(), x.data(), flag.data(), stream());
  const auto result = cuda::fetch_array(x.data(), rhs.size(), stream());
  for (std::size_t i = 0; i < rhs.size(); ++i) {
    const double expected = 1.0 / rhs[i];
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(result[i]));
    } else {
      EXPECT_LE(std::nextafter(expected, -INFINITY), result[i]) << rhs[i];
      EXPECT_GE(std::nextafter(expected, INFINITY), result[i]) << rhs[i];
      EXPECT_EQ(std::signbit(expected), std::signbit(result[i])) << rhs[i];
    }
  }
}

}  // namespace
}  // namespace taskdag
