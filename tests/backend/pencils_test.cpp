// Pencils of grids of seven points against the serial reference.
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/index.hpp"
#include "device_fixture.hpp"
#include "device_triangle.hpp"
#include "kernels/sptrsv/schedules/cells/cells.hpp"
#include "kernels/sptrsv/schedules/cells/cut/estimate.hpp"
#include "kernels/sptrsv/schedules/cells/pencils/sweep.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "sweep_fixture.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

using kernels::cells::Pencils;
using test::upload;

constexpr Triangle kTriangles[] = {Triangle::lower, Triangle::upper};

/// Entries beside the diagonal are small enough for results to stay small with a unit diagonal.
CsrMatrix grid(const Pencils& shape) {
  CsrMatrix a = make_stencil(
      {.stencil = Stencil::seven_point, .nx = shape.columns, .ny = shape.lines, .nz = shape.planes, .wind = 0.3});
  for (double& value : a.values) value *= 0.2;
  return a;
}

/// The matrix without the entries that `drop` names.
template <class Drop>
CsrMatrix without(const CsrMatrix& a, const Drop& drop) {
  CsrMatrix result;
  result.rows = result.cols = a.rows;
  for (Index i = 0; i < a.rows; ++i) {
    for (auto e = at(a.row_offsets[at(i)]); e < at(a.row_offsets[at(i) + 1]); ++e) {
      if (i != a.col_indices[e] && drop(i, a.col_indices[e])) continue;
      result.col_indices.push_back(a.col_indices[e]);
      result.values.push_back(a.values[e]);
    }
    result.row_offsets.push_back(static_cast<Offset>(result.values.size()));
  }
  return result;
}

class PencilsTest : public test::OnSweeps<> {
 protected:
  void SetUp() override {
    OnSweeps::SetUp();
    if (!IsSkipped() && !kernels::cells_supported()) GTEST_SKIP() << "this device cannot run pencils";
  }

  std::optional<Pencils> pencils_of(const kernels::SweepInput& input) {
    const auto lines = kernels::cells::find_lines(input, stream());
    return lines ? kernels::cells::find_pencils(input, *lines, stream()) : std::nullopt;
  }

  /// Solves with and without pivots, twice with each, and in place.
  void expect_right(const CsrMatrix& a, const Pencils& pencils, Triangle triangle) {
    const test::DeviceTriangle on_device(a, triangle, stream());
    const auto sweep = kernels::cells::make_pencils_sweep(on_device.input(), pencils, stream());
    const std::vector<double> b = test::right_hand_side(a.rows);
    for (const bool unit : {false, true, false}) {
      load(*sweep, a.values, unit ? std::vector<double>{} : test::inverse_diagonal(a));
      const TriangularOptions options{.triangle = triangle, .unit_diagonal = unit};
      for (int k = 0; k < 2; ++k) {
        EXPECT_LE(test::triangular_error(a, options, b, solve(*sweep, b)), 1.0);
        EXPECT_FALSE(non_finite_);
      }
      const auto x = upload(b, stream());
      run(*sweep, x.data(), x.data());
      EXPECT_LE(test::triangular_error(a, options, b, cuda::fetch_array(x.data(), b.size(), stream())), 1.0);
    }
  }
};

std::string name_of(const Pencils& shape) {
  return std::to_string(shape.columns) + " x " + std::to_string(shape.lines) + " x " + std::to_string(shape.planes);
}

TEST_F(PencilsTest, GridsOfAllShapes) {
  // One pencil and less, a line and a plane more than one, several of both, short lines, long ones.
  constexpr Pencils kShapes[] = {{6, 5, 3},   {40, 31, 4},  {40, 32, 5},  {3, 70, 9},  {100, 2, 2},
                                 {17, 93, 8}, {333, 33, 6}, {64, 64, 64}, {2, 2, 300}, {50, 200, 3}};
  for (const Pencils& shape : kShapes) {
    const CsrMatrix a = grid(shape);
    for (const Triangle triangle : kTriangles) {
      SCOPED_TRACE(name_of(shape) + (triangle == Triangle::lower ? ", lower" : ", upper"));
      expect_right(a, shape, triangle);
    }
  }
}

/// More pencils than the device has room for: blocks take a second one.
TEST_F(PencilsTest, MorePencilsThanBlocks) {
  const Pencils shape{6, 95, 400};
  for (const Triangle triangle : kTriangles) expect_right(grid(shape), shape, triangle);
}

TEST_F(PencilsTest, RowsMayLackEntries) {
  const Pencils shape{30, 50, 20};
  const CsrMatrix a = without(grid(shape), [](Index i, Index j) { return (i * 7 + j * 3) % 11 == 0; });
  for (const Triangle triangle : kTriangles) {
    const test::DeviceTriangle on_device(a, triangle, stream());
    EXPECT_TRUE(pencils_of(on_device.input()));
    expect_right(a, shape, triangle);
  }
}

TEST_F(PencilsTest, GridsAreFound) {
  for (const Pencils& shape : {Pencils{40, 20, 2}, Pencils{50, 57, 30}, Pencils{9, 70, 11}, Pencils{70, 10, 40}}) {
    for (const Triangle triangle : kTriangles) {
      const test::DeviceTriangle on_device(grid(shape), triangle, stream());
      const auto found = pencils_of(on_device.input());
      ASSERT_TRUE(found) << name_of(shape);
      EXPECT_EQ(name_of(*found), name_of(shape));
    }
  }
}

TEST_F(PencilsTest, OtherPatternsAreNone) {
  std::vector<CsrMatrix> others = {
      make_stencil({.stencil = Stencil::five_point, .nx = 40, .ny = 40}),
      make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 12, .ny = 12, .nz = 12}),
      make_stencil({.stencil = Stencil::seven_point, .nx = 12, .ny = 12, .nz = 12, .unknowns_per_node = 2}),
  };
  // The last row of a line is coupled with the first of the next one; the last line of a plane likewise.
  for (const Index distance : {1, 12}) {
    CsrMatrix around = grid({12, 12, 12});
    for (Index i = 0; i < around.rows; ++i) {
      for (auto e = at(around.row_offsets[at(i)]); e < at(around.row_offsets[at(i) + 1]); ++e) {
        if (i % 144 == 0 && around.col_indices[e] == i - 144) around.col_indices[e] = i - distance;
      }
    }
    others.push_back(around);
  }
  for (std::size_t k = 0; k < others.size(); ++k) {
    const test::DeviceTriangle on_device(others[k], Triangle::lower, stream());
    EXPECT_FALSE(pencils_of(on_device.input())) << "pattern " << k;
  }
}

TEST_F(PencilsTest, VectorsInOtherOrders) {
  const CsrMatrix a = grid({30, 40, 13});
  const auto n = at(a.rows);
  std::vector<Index> from(n);
  std::vector<Index> to(n);
  for (std::size_t i = 0; i < n; ++i) {
    from[i] = static_cast<Index>((i * 7 + 3) % n);
    to[i] = static_cast<Index>((i * 11 + 5) % n);
  }
  ASSERT_NE(n % 7, 0U);
  ASSERT_NE(n % 11, 0U);
  const auto from_device = upload(from, stream());
  const auto to_device = upload(to, stream());
  for (const Triangle triangle : kTriangles) {
    const test::DeviceTriangle on_device(a, triangle, stream());
    kernels::SweepInput input = on_device.input();
    input.rhs_index = from_device.data();
    input.x_index = to_device.data();
    const auto sweep = kernels::cells::make_pencils_sweep(input, pencils_of(input).value(), stream());
    load(*sweep, a.values, test::inverse_diagonal(a));
    const std::vector<double> b = test::right_hand_side(a.rows);
    const std::vector<double> x = solve(*sweep, b);
    std::vector<double> b_by_row(n);
    std::vector<double> x_by_row(n);
    for (std::size_t i = 0; i < n; ++i) {
      b_by_row[i] = b[at(from[i])];
      x_by_row[i] = x[at(to[i])];
    }
    EXPECT_LE(test::triangular_error(a, {.triangle = triangle}, b_by_row, x_by_row), 1.0);
  }
}

TEST_F(PencilsTest, WhatIsNotFiniteStaysWhereItBelongs) {
  const CsrMatrix a = grid({20, 40, 10});
  const test::DeviceTriangle on_device(a, Triangle::lower, stream());
  const auto sweep =
      kernels::cells::make_pencils_sweep(on_device.input(), pencils_of(on_device.input()).value(), stream());
  load(*sweep, a.values, test::inverse_diagonal(a));
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    // Of the last line and of the last plane of a pencil, and of others.
    for (const Index row : {0, 20 * 30, 20 * 30 + 7, 20 * 40 * 3 + 20 * 5, 20 * 40 * 7 + 20 * 30 + 19}) {
      std::vector<double> b = test::right_hand_side(a.rows);
      b[at(row)] = bad;
      const std::vector<double> x = solve(*sweep, b);
      EXPECT_TRUE(non_finite_);
      const std::vector<double> expected = test::reference_solve(a, {}, b);
      for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(std::isfinite(x[i]), std::isfinite(expected[i])) << "row " << i << " for " << bad << " in " << row;
    }
  }
}

TEST_F(PencilsTest, RecurrencesOfReciprocals) {
  const CsrMatrix a = grid({25, 40, 9});
  const test::DeviceTriangle on_device(a, Triangle::lower, stream());
  const auto sweep =
      kernels::cells::make_pencils_sweep(on_device.input(), pencils_of(on_device.input()).value(), stream());
  const auto values = upload(a.values, stream());
  const std::vector<double> b(at(a.rows), 1.7);
  const auto rhs = upload(b, stream());
  const auto flag = upload(std::vector<int>{0}, stream());
  const auto x = upload(std::vector<double>(b.size(), -7.0), stream());
  ASSERT_TRUE(sweep->load_products({values.data(), nullptr, nullptr}, stream()));  // squares
  ASSERT_TRUE(sweep->solve_reciprocals(rhs.data(), x.data(), flag.data(), stream()));
  const std::vector<double> found = cuda::fetch_array(x.data(), b.size(), stream());
  std::vector<double> expected(b.size());
  for (Index i = 0; i < a.rows; ++i) {
    double sum = b[at(i)];
    for (auto e = at(a.row_offsets[at(i)]); e < at(a.row_offsets[at(i) + 1]); ++e) {
      const Index j = a.col_indices[e];
      if (j < i) sum -= a.values[e] * a.values[e] * expected[at(j)];
    }
    expected[at(i)] = 1.0 / sum;
  }
  EXPECT_LE(test::difference(found, expected), test::kForwardBound);
  EXPECT_EQ(cuda::fetch(flag.data(), stream()), 0);
}

/// The schedule cells takes pencils where the grid has its levels.
TEST_F(PencilsTest, CellsArePencilsOnGridsOfSevenPoints) {
  const CsrMatrix a = grid({60, 60, 60});
  for (const Triangle triangle : kTriangles) {
    const test::DeviceTriangle on_device(a, triangle, stream());
    EXPECT_TRUE(kernels::cells::estimate(on_device.input(), stream()).cut.pencils);
  }
}

}  // namespace
}  // namespace taskdag
