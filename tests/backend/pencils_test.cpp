// Pencils of grids of seven points against the serial reference.
#include <optional>
#include <string>
#include <vector>

#include "grid_sweep_fixture.hpp"
#include "kernels/sptrsv/schedules/cells/cut/estimate.hpp"
#include "kernels/sptrsv/schedules/cells/pencils/sweep.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

using kernels::cells::Pencils;
using test::kTriangles;
using test::without;

/// Entries beside the diagonal are small enough for results to stay small with a unit diagonal.
CsrMatrix grid(const Pencils& shape) {
  CsrMatrix a = make_stencil(
      {.stencil = Stencil::seven_point, .nx = shape.columns, .ny = shape.lines, .nz = shape.planes, .wind = 0.3});
  for (double& value : a.values) value *= 0.2;
  return a;
}

class PencilsTest : public test::OnGridSweeps {
 protected:
  std::optional<Pencils> pencils_of(const kernels::SweepInput& input) {
    const auto lines = kernels::cells::find_lines(input, stream());
    return lines ? kernels::cells::find_pencils(input, *lines, stream()) : std::nullopt;
  }

  void expect_right_pencils(const CsrMatrix& a, const Pencils& pencils, Triangle triangle) {
    expect_right(a, triangle, [&](const kernels::SweepInput& input) {
      return kernels::cells::make_pencils_sweep(input, pencils, stream());
    });
  }
  /// Of those that are found.
  test::MakeSweep found() {
    return [this](const kernels::SweepInput& input) {
      return kernels::cells::make_pencils_sweep(input, pencils_of(input).value(), stream());
    };
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
      expect_right_pencils(a, shape, triangle);
    }
  }
}

/// More pencils than the device has room for: blocks take a second one.
TEST_F(PencilsTest, MorePencilsThanBlocks) {
  const Pencils shape{6, 95, 400};
  for (const Triangle triangle : kTriangles) expect_right_pencils(grid(shape), shape, triangle);
}

TEST_F(PencilsTest, RowsMayLackEntries) {
  const Pencils shape{30, 50, 20};
  const CsrMatrix a = without(grid(shape), [](Index i, Index j) { return (i * 7 + j * 3) % 11 == 0; });
  for (const Triangle triangle : kTriangles) {
    const test::DeviceTriangle on_device(a, triangle, stream());
    EXPECT_TRUE(pencils_of(on_device.input()));
    expect_right_pencils(a, shape, triangle);
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

TEST_F(PencilsTest, VectorsInOtherOrders) { expect_right_in_other_orders(grid({30, 40, 13}), found()); }

TEST_F(PencilsTest, WhatIsNotFiniteStaysWhereItBelongs) {
  // Of the last line and of the last plane of a pencil, and of others.
  expect_what_is_not_finite_to_stay(
      grid({20, 40, 10}), {0, 20 * 30, 20 * 30 + 7, 20 * 40 * 3 + 20 * 5, 20 * 40 * 7 + 20 * 30 + 19}, found());
}

TEST_F(PencilsTest, RecurrencesOfReciprocals) { expect_right_reciprocals(grid({25, 40, 9}), found()); }

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
