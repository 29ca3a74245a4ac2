// What every CUDA schedule promises (kernels/sptrsv/sweep.hpp): index maps, values loaded again, results that stay
// inside.
#include "kernels/sptrsv/sweep.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "backends.hpp"
#include "backends/cuda/stream.hpp"
#include "base/handover.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "sweep_fixture.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

using kernels::Sweep;
using kernels::SweepInput;
using test::inverse_diagonal;
using test::Problem;
using test::upload;

std::vector<Index> shuffled(std::size_t size, unsigned seed) {
  std::vector<Index> order(size);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  return order;
}

class SweepTest : public test::OnSweeps<testing::TestWithParam<SolveSchedule>> {
 protected:
  void SetUp() override {
    OnSweeps::SetUp();
    if (IsSkipped() || GetParam() != SolveSchedule::cells) return;
    if (!test::device_has_cells()) GTEST_SKIP() << "this device cannot run cells";
  }
  /// A sweep with the maps in `maps`, made when everything that it was made from is gone again.
  std::unique_ptr<Sweep> make(const CsrMatrix& a, Triangle triangle, const SweepInput& maps = {}) {
    const auto offsets = upload(a.row_offsets, stream());
    const auto columns = upload(a.col_indices, stream());
    SweepInput input = maps;
    input.pattern = {a.rows, a.entries(), offsets.data(), columns.data()};
    input.triangle = triangle;
    const kernels::TriangleRanges ranges = kernels::find_triangle(input.pattern, triangle, stream());
    const kernels::RowLevels levels = kernels::compute_levels(input.pattern, ranges, triangle, stream());
    input.ranges = &ranges;
    input.levels = &levels;
    const RowBlocks one_block{{0, a.rows}, {0, 1}};
    if (GetParam() == SolveSchedule::blocks) input.blocks = &one_block;
    auto sweep = make_sweep(GetParam(), input, stream());
    cuda::synchronize(stream());
    return sweep;
  }

  void expect_right(const CsrMatrix& a, const TriangularOptions& options, const std::vector<double>& b,
                    const std::vector<double>& x) {
    EXPECT_LE(test::triangular_error(a, options, b, x), 1.0);
    EXPECT_FALSE(non_finite_);
  }
};

TEST_P(SweepTest, SolvesEveryShapeOfDependencies) {
  std::vector<Problem> problems = test::small_problems();
  for (Problem& random : test::random_triangles()) problems.push_back(std::move(random));
  for (const Problem& problem : problems) {
    const std::vector<double> b = test::right_hand_side(problem.a.rows);
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      SCOPED_TRACE(problem.name + (triangle == Triangle::lower ? ", lower" : ", upper"));
      const auto sweep = make(problem.a, triangle);
      load(*sweep, problem.a.values, inverse_diagonal(problem.a));
      for (int repeat = 0; repeat < 3; ++repeat) {
        expect_right(problem.a, {.triangle = triangle}, b, solve(*sweep, b));
      }
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST_P(SweepTest, ValuesArePatternEntriesThroughTheirMapAndMayChange) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 9, .ny = 8, .nz = 7, .wind = 0.5});
  const std::vector<Index> place = shuffled(a.values.size(), 1);
  const auto source_entry = upload(std::vector<Offset>(place.begin(), place.end()), stream());
  const std::vector<double> b = test::right_hand_side(a.rows);
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    const auto sweep = make(a, triangle, {.pattern = {}, .source_entry = source_entry.data()});
    CsrMatrix changed = a;
    for (const bool unit : {false, false, true, false}) {
      changed.values = test::other_values(changed.values);
      std::vector<double> scattered(a.values.size());
      for (std::size_t e = 0; e < scattered.size(); ++e)
        scattered[static_cast<std::size_t>(place[e])] = changed.values[e];
      load(*sweep, scattered, unit ? std::vector<double>() : inverse_diagonal(changed));
      expect_right(changed, {.triangle = triangle, .unit_diagonal = unit}, b, solve(*sweep, b));
    }
  }
}

TEST_P(SweepTest, VectorsAreReadAndWrittenThroughTheirMaps) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 6, .ny = 7, .nz = 5});
  const auto n = static_cast<std::size_t>(a.rows);
  const std::vector<Index> from = shuffled(n, 2);
  const std::vector<Index> to = shuffled(n, 3);
  const std::vector<double> b = test::right_hand_side(a.rows);
  std::vector<double> scattered(n);
  for (std::size_t i = 0; i < n; ++i) scattered[static_cast<std::size_t>(from[i])] = b[i];
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    std::unique_ptr<Sweep> sweep;
    {
      const auto rhs_index = upload(from, stream());
      const auto x_index = upload(to, stream());
      sweep = make(a, triangle, {.pattern = {}, .rhs_index = rhs_index.data(), .x_index = x_index.data()});
    }
    load(*sweep, a.values, inverse_diagonal(a));
    const std::vector<double> result = solve(*sweep, scattered);
    std::vector<double> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = result[static_cast<std::size_t>(to[i])];
    expect_right(a, {.triangle = triangle}, b, x);
  }
}

TEST_P(SweepTest, AResultMayStayInsideAndAVectorMayBeOverwritten) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 40, .ny = 30});
  const auto n = static_cast<std::size_t>(a.rows);
  const std::vector<double> b = test::right_hand_side(a.rows);
  const auto sweep = make(a, Triangle::lower);
  load(*sweep, a.values, inverse_diagonal(a));
  const auto rhs = upload(b, stream());
  for (int repeat = 0; repeat < 3; ++repeat) {
    run(*sweep, rhs.data(), nullptr);
    std::vector<double> x(n);
    if (sweep->result_index()) {
      const std::vector<Index> index = cuda::fetch_array(sweep->result_index(), n, stream());
      const auto extent = static_cast<std::size_t>(*std::max_element(index.begin(), index.end())) + 1;
      const std::vector<double> result = cuda::fetch_array(sweep->result(), extent, stream());
      for (std::size_t i = 0; i < n; ++i) x[i] = result[static_cast<std::size_t>(index[i])];
    } else {
      x = cuda::fetch_array(sweep->result(), n, stream());
    }
    expect_right(a, {}, b, x);
  }
  run(*sweep, rhs.data(), rhs.data());
  expect_right(a, {}, b, cuda::fetch_array(rhs.data(), n, stream()));
}

TEST_P(SweepTest, SolvesEndOnNumbersThatAreNotFiniteAndSaySo) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 50, .ny = 20});
  const auto sweep = make(a, Triangle::lower);
  load(*sweep, a.values, inverse_diagonal(a));
  const std::vector<double> good = test::right_hand_side(a.rows);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity(), not_yet(), -not_yet()}) {
    std::vector<double> b = good;
    b[b.size() / 2] = bad;
    const std::vector<double> x = solve(*sweep, b);
    EXPECT_TRUE(non_finite_);
    const std::vector<double> expected = test::reference_solve(a, {}, b);
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(std::isfinite(x[i]), std::isfinite(expected[i])) << "row " << i;
    expect_right(a, {}, good, solve(*sweep, good));
  }
}

/// A NaN whose bits are those of a value that has not come yet, with either sign, is a NaN like any other.
TEST_P(SweepTest, SolvesEndOnNansInTheMatrixThatLookLikeMissingValues) {
  CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 50, .ny = 20});
  const auto sweep = make(a, Triangle::lower);
  const std::vector<double> b = test::right_hand_side(a.rows);
  const auto pivots = inverse_diagonal(a);
  const auto entry = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(a.rows) / 2]);
  for (const double bad : {not_yet(), -not_yet()}) {
    a.values[entry] = bad;
    load(*sweep, a.values, pivots);
    const std::vector<double> x = solve(*sweep, b);
    EXPECT_TRUE(non_finite_);
    const std::vector<double> expected = test::reference_solve(a, {}, b);
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(std::isfinite(x[i]), std::isfinite(expected[i])) << "row " << i;
  }
}

/// Solves that follow one another without a wait between them may overlap on the device: each has the values that were
/// loaded last, its own right-hand side, vectors at new places, and the result of the sweep before it.
TEST_P(SweepTest, SolvesInARowDoNotDisturbEachOther) {
  constexpr SolveSchedule kOverlapping[] = {SolveSchedule::flat, SolveSchedule::cells, SolveSchedule::blocks};
  if (std::ranges::find(kOverlapping, GetParam()) == std::end(kOverlapping)) GTEST_SKIP() << "launches do not overlap";
  constexpr std::size_t kRounds = 4;
  constexpr std::size_t kSolves = 6;  // without new values between them
  CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 60, .ny = 50, .wind = 0.25});
  const auto n = static_cast<std::size_t>(a.rows);
  const auto lower = make(a, Triangle::lower);
  const auto upper = make(a, Triangle::upper, {.pattern = {}, .rhs_index = lower->result_index()});
  if (kernels::FollowsSweep* const behind = upper->capabilities().follows_sweep) behind->follow(*lower, stream());
  const auto flag = upload(std::vector<int>{0}, stream());
  struct Round {
    CsrMatrix a;
    cuda::DeviceArray<double> values;
    cuda::DeviceArray<double> pivots;
  };
  struct Solve {
    std::vector<double> b;
    cuda::DeviceArray<double> rhs;
    cuda::DeviceArray<double> x;
    cuda::DeviceArray<double> both;
  };
  std::vector<Round> rounds;
  std::vector<Solve> solves;
  for (std::size_t r = 0; r < kRounds; ++r) {
    rounds.push_back({a, upload(a.values, stream()), upload(inverse_diagonal(a), stream())});
    for (double& value : a.values) value *= -1.5;
    for (std::size_t k = 0; k < kSolves; ++k) {
      std::vector<double> b = test::right_hand_side(a.rows);
      for (double& value : b) value *= 1.0 + static_cast<double>(solves.size());
      const std::vector<double> nothing(n, -7.0);
      solves.push_back({b, upload(b, stream()), upload(nothing, stream()), upload(nothing, stream())});
    }
  }
  for (std::size_t k = 0; k < solves.size(); ++k) {
    const Solve& solve = solves[k];
    if (k % kSolves == 0) {
      const Round& round = rounds[k / kSolves];
      lower->load_values(round.values.data(), round.pivots.data(), stream());
      upper->load_values(round.values.data(), round.pivots.data(), stream());
    }
    if (k % 3 != 1) lower->solve(solve.rhs.data(), solve.x.data(), flag.data(), stream());
    lower->solve(solve.rhs.data(), nullptr, flag.data(), stream());
    upper->solve(lower->result(), solve.both.data(), flag.data(), stream());
  }
  EXPECT_EQ(cuda::fetch(flag.data(), stream()), 0);
  for (std::size_t k = 0; k < solves.size(); ++k) {
    SCOPED_TRACE("solve " + std::to_string(k));
    const Solve& solve = solves[k];
    const CsrMatrix& used = rounds[k / kSolves].a;
    const std::vector<double> expected = test::reference_solve(used, {}, solve.b);
    if (k % 3 != 1) {
      ASSERT_LE(test::triangular_error(used, {}, solve.b, cuda::fetch_array(solve.x.data(), n, stream())), 1.0);
    }
    const std::vector<double> both = test::reference_solve(used, {.triangle = Triangle::upper}, expected);
    ASSERT_LE(test::difference(cuda::fetch_array(solve.both.data(), n, stream()), both), test::kForwardBound);
  }
}

std::vector<SolveSchedule> cuda_schedules() {
  const auto all = solve_schedules(Backend::cuda);
  std::vector<SolveSchedule> schedules(all.begin() + 1, all.end());  // the first one chooses
  schedules.push_back(SolveSchedule::blocks);
  return schedules;
}

std::string test_name(const testing::TestParamInfo<SolveSchedule>& schedule) {
  std::string name = to_string(schedule.param);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Cuda, SweepTest, testing::ValuesIn(cuda_schedules()), test_name);

}  // namespace
}  // namespace taskdag
