// Bands of grids of five points against the serial reference.
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/index.hpp"
#include "device_fixture.hpp"
#include "device_triangle.hpp"
#include "kernels/sptrsv/schedules/cells/bands/sweep.hpp"
#include "kernels/sptrsv/schedules/cells/cells.hpp"
#include "kernels/sptrsv/schedules/cells/cut/estimate.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "sweep_fixture.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

using kernels::cells::Bands;
using test::upload;

constexpr Triangle kTriangles[] = {Triangle::lower, Triangle::upper};

/// Entries beside the diagonal are small enough for results to stay small with a unit diagonal.
CsrMatrix grid(Index columns, Index lines) {
  CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = columns, .ny = lines, .wind = 0.3});
  for (double& value : a.values) value *= 0.3;
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

class BandsTest : public test::OnSweeps<> {
 protected:
  void SetUp() override {
    OnSweeps::SetUp();
    if (!IsSkipped() && !kernels::cells_supported()) GTEST_SKIP() << "this device cannot run bands";
  }

  std::optional<Bands> bands_of(const kernels::SweepInput& input) {
    const auto lines = kernels::cells::find_lines(input, stream());
    return lines ? kernels::cells::find_bands(input, *lines, stream()) : std::nullopt;
  }

  /// Solves with and without pivots, twice with each, and in place.
  void expect_right(const CsrMatrix& a, const Bands& bands, Triangle triangle, int blocks) {
    const test::DeviceTriangle on_device(a, triangle, stream());
    const auto sweep = kernels::cells::make_bands_sweep(on_device.input(), bands, stream(), blocks);
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

TEST_F(BandsTest, GridsOfAllShapesAndClustersOfAllSizes) {
  // Fewer lines than lanes, one band and a line, as many bands as a cluster has blocks, one more, short lines, long
  // ones.
  constexpr Bands kShapes[] = {{40, 2}, {5, 33}, {3, 256}, {50, 257}, {333, 77}, {4000, 40}, {17, 700}, {64, 64}};
  for (const Bands& shape : kShapes) {
    const CsrMatrix a = grid(shape.columns, shape.lines);
    for (const Triangle triangle : kTriangles) {
      for (const int blocks : {1, 2, 8}) {
        SCOPED_TRACE(std::to_string(shape.columns) + " x " + std::to_string(shape.lines) +
                     (triangle == Triangle::lower ? ", lower, " : ", upper, ") + std::to_string(blocks) + " blocks");
        expect_right(a, shape, triangle, blocks);
      }
    }
  }
}

/// More bands than the device has room for: blocks take a second one.
TEST_F(BandsTest, MoreBandsThanBlocks) {
  const CsrMatrix a = grid(40, 12000);
  for (const Triangle triangle : kTriangles) {
    for (const int blocks : {1, 8}) expect_right(a, {40, 12000}, triangle, blocks);
  }
}

/// Lines that are too long for shared memory go by way of the device's.
TEST_F(BandsTest, LinesLongerThanSharedMemory) { expect_right(grid(30000, 70), {30000, 70}, Triangle::lower, 8); }

TEST_F(BandsTest, RowsMayLackEntries) {
  const CsrMatrix a = without(grid(70, 150), [](Index i, Index j) {
    return i % 70 == 0 || j % 70 == 0 || i < 70 || j < 70 || (i * 7 + j * 3) % 11 == 0;
  });
  for (const Triangle triangle : kTriangles) {
    const test::DeviceTriangle on_device(a, triangle, stream());
    EXPECT_TRUE(bands_of(on_device.input()));
    expect_right(a, {70, 150}, triangle, 8);
  }
}

TEST_F(BandsTest, GridsAreFound) {
  for (const Bands& shape : {Bands{40, 2}, Bands{50, 257}, Bands{1000, 70}, Bands{70, 1000}}) {
    for (const Triangle triangle : kTriangles) {
      const test::DeviceTriangle on_device(grid(shape.columns, shape.lines), triangle, stream());
      const auto found = bands_of(on_device.input());
      ASSERT_TRUE(found) << shape.columns;
      EXPECT_EQ(found->columns, shape.columns);
      EXPECT_EQ(found->lines, shape.lines);
    }
  }
}

TEST_F(BandsTest, OtherPatternsAreNone) {
  const Index n = 40;
  std::vector<CsrMatrix> others = {
      make_stencil({.stencil = Stencil::seven_point, .nx = 12, .ny = 12, .nz = 12}),
      make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 12, .ny = 12, .nz = 1}),
      make_stencil({.stencil = Stencil::five_point, .nx = 20, .ny = 20, .unknowns_per_node = 2}),
  };
  CsrMatrix around = grid(n, n);  // the last row of a line is coupled with the first of the next one
  for (Index i = 0; i < around.rows; ++i) {
    for (auto e = at(around.row_offsets[at(i)]); e < at(around.row_offsets[at(i) + 1]); ++e) {
      if (i % n == 0 && i > 0 && around.col_indices[e] == i - n) around.col_indices[e] = i - 1;
    }
  }
  others.push_back(around);
  for (std::size_t k = 0; k < others.size(); ++k) {
    const test::DeviceTriangle on_device(others[k], Triangle::lower, stream());
    EXPECT_FALSE(bands_of(on_device.input())) << "pattern " << k;
  }
}

TEST_F(BandsTest, VectorsInOtherOrders) {
  const CsrMatrix a = grid(60, 90);
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
    const auto sweep = kernels::cells::make_bands_sweep(input, bands_of(input).value(), stream());
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

TEST_F(BandsTest, WhatIsNotFiniteStaysWhereItBelongs) {
  const CsrMatrix a = grid(50, 80);
  const test::DeviceTriangle on_device(a, Triangle::lower, stream());
  const auto sweep = kernels::cells::make_bands_sweep(on_device.input(), bands_of(on_device.input()).value(), stream());
  load(*sweep, a.values, test::inverse_diagonal(a));
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    for (const Index row : {0, 50 * 32, 50 * 32 + 7, 50 * 40 + 49}) {  // of the first line of a band, and of others
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

TEST_F(BandsTest, RecurrencesOfReciprocals) {
  const CsrMatrix a = grid(90, 100);
  const test::DeviceTriangle on_device(a, Triangle::lower, stream());
  const auto sweep = kernels::cells::make_bands_sweep(on_device.input(), bands_of(on_device.input()).value(), stream());
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

/// The schedule cells takes bands where the grid has its levels, runs of rows where it has hardly any.
TEST_F(BandsTest, CellsAreBandsOnGridsOfFivePoints) {
  const CsrMatrix a = grid(300, 300);
  for (const Triangle triangle : kTriangles) {
    const test::DeviceTriangle on_device(a, triangle, stream());
    EXPECT_TRUE(kernels::cells::estimate(on_device.input(), stream()).cut.bands);
  }
  const CsrMatrix shallow = without(a, [](Index i, Index j) { return i / 10 != j / 10 && i % 300 != j % 300; });
  const CsrMatrix flat = without(shallow, [](Index i, Index j) { return i % 300 == j % 300 && i / 3000 != j / 3000; });
  const test::DeviceTriangle on_device(flat, Triangle::lower, stream());
  EXPECT_FALSE(kernels::cells::estimate(on_device.input(), stream()).cut.bands);
}

}  // namespace
}  // namespace taskdag
