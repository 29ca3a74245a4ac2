// Cells of any number and any shape of dependencies against the serial reference.
#include "kernels/sptrsv/cells/cells.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "backends.hpp"
#include "backends/cuda/stream.hpp"
#include "device_fixture.hpp"
#include "device_triangle.hpp"
#include "measure.hpp"
#include "problems.hpp"

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
    const std::vector<double> b = test::right_hand_side(problem.a.rows);
    const test::DeviceTriangle on_device(problem.a, triangle, stream());
    const auto sweep = kernels::make_cells_sweep(on_device.input(), options, stream());
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
    for (const int cells : {1, 3}) expect_right({"far operands", a}, Triangle::lower, {.cells = cells}, 3);
  }
}

TEST_F(CellsTest, ResultsAreWrittenOutWhereAllRowsWaitForAnotherCell) {
  // Nothing but fetched operands, all there at once: the runner is as fast as it can be, and full steps leave no idle
  // lane.
  constexpr Index kFirst = 100000;
  const CsrMatrix a = unit_lower(4 * kFirst, -0.5, [&](Index i) {
    return i < kFirst ? std::vector<Index>() : std::vector<Index>{(i * 7) % kFirst};
  });
  for (const int cells : {2, 5, 132}) expect_right({"two levels", a}, Triangle::lower, {.cells = cells}, 20);
}

}  // namespace
}  // namespace taskdag
