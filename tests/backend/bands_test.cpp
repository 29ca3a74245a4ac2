// Bands of grids of five points against the serial reference.
#include <optional>
#include <string>
#include <vector>

#include "grid_sweep_fixture.hpp"
#include "kernels/sptrsv/schedules/cells/bands/sweep.hpp"
#include "kernels/sptrsv/schedules/cells/cut/cost.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

using kernels::cells::Bands;
using test::kTriangles;
using test::without;

/// Entries beside the diagonal are small enough for results to stay small with a unit diagonal.
CsrMatrix grid(Index columns, Index lines) {
  CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = columns, .ny = lines, .wind = 0.3});
  for (double& value : a.values) value *= 0.3;
  return a;
}

class BandsTest : public test::OnGridSweeps {
 protected:
  std::optional<Bands> bands_of(const kernels::SweepInput& input) {
    const auto lines = kernels::cells::find_lines(input, stream());
    return lines ? kernels::cells::find_bands(input, *lines, stream()) : std::nullopt;
  }

  /// Of bands that are named, in clusters of so many blocks at most.
  void expect_right_bands(const CsrMatrix& a, const Bands& bands, Triangle triangle, int blocks) {
    expect_right(a, triangle, [&](const kernels::SweepInput& input) {
      return kernels::cells::make_bands_sweep(input, bands, stream(), blocks);
    });
  }
  /// Of those that are found.
  test::MakeSweep found() {
    return [this](const kernels::SweepInput& input) {
      return kernels::cells::make_bands_sweep(input, bands_of(input).value(), stream());
    };
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
        expect_right_bands(a, shape, triangle, blocks);
      }
    }
  }
}

TEST_F(BandsTest, EntriesInSinglePrecision) {
  for (const Bands& shape : {Bands{5, 33}, Bands{50, 257}, Bands{4000, 40}}) {
    for (const Triangle triangle : kTriangles) {
      SCOPED_TRACE(std::to_string(shape.columns) + " x " + std::to_string(shape.lines));
      expect_right_in_single(grid(shape.columns, shape.lines), triangle, found());
    }
  }
}

/// More bands than the device has room for: blocks take a second one.
TEST_F(BandsTest, MoreBandsThanBlocks) {
  const CsrMatrix a = grid(40, 12000);
  for (const Triangle triangle : kTriangles) {
    for (const int blocks : {1, 8}) expect_right_bands(a, {40, 12000}, triangle, blocks);
  }
}

/// Lines that are too long for shared memory go by way of the device's.
TEST_F(BandsTest, LinesLongerThanSharedMemory) { expect_right_bands(grid(30000, 70), {30000, 70}, Triangle::lower, 8); }

TEST_F(BandsTest, RowsMayLackEntries) {
  const CsrMatrix a = without(grid(70, 150), [](Index i, Index j) {
    return i % 70 == 0 || j % 70 == 0 || i < 70 || j < 70 || (i * 7 + j * 3) % 11 == 0;
  });
  for (const Triangle triangle : kTriangles) {
    const test::DeviceTriangle on_device(a, triangle, stream());
    EXPECT_TRUE(bands_of(on_device.input()));
    expect_right_bands(a, {70, 150}, triangle, 8);
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

TEST_F(BandsTest, VectorsInOtherOrders) { expect_right_in_other_orders(grid(60, 90), found()); }

TEST_F(BandsTest, WhatIsNotFiniteStaysWhereItBelongs) {
  // Of the first line of a band, and of others.
  expect_what_is_not_finite_to_stay(grid(50, 80), {0, 50 * 32, 50 * 32 + 7, 50 * 40 + 49}, found());
}

TEST_F(BandsTest, RecurrencesOfReciprocals) {
  for (const Precision precision : {Precision::in_double, Precision::in_single})
    expect_right_reciprocals(grid(90, 100), precision, found());
}

TEST_F(BandsTest, EntriesAreFoundInAPatternThatStays) {
  for (const Precision precision : {Precision::in_double, Precision::in_single}) {
    for (const Triangle triangle : kTriangles) {
      expect_the_same_without_sources(grid(90, 100), triangle, precision, found());
      const auto some = [](Index i, Index j) { return i % 70 == 0 || j % 70 == 0 || (i * 7 + j * 3) % 11 == 0; };
      expect_the_same_without_sources(without(grid(70, 150), some), triangle, precision, found());
    }
  }
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
