// Cells that are tiles of a structured grid's lines.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/index.hpp"
#include "device_fixture.hpp"
#include "device_triangle.hpp"
#include "kernels/sptrsv/schedules/cells/cells.hpp"
#include "kernels/sptrsv/schedules/cells/cut/cost.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "taskdag/calibration.hpp"
#include "taskdag/error.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

using kernels::cells::Distances;
using kernels::cells::Lines;
using kernels::cells::TileShape;
using kernels::cells::Tiling;
using test::upload;

struct Grid {
  std::string name;
  StencilSpec spec;
  Index shear;
};

/// Extents that no shape divides.
std::vector<Grid> grids() {
  return {{"7-point", {.stencil = Stencil::seven_point, .nx = 13, .ny = 11, .nz = 17}, 0},
          {"7-point, wind", {.stencil = Stencil::seven_point, .nx = 40, .ny = 9, .nz = 7, .wind = 0.5}, 0},
          {"7-point, 3 unknowns",
           {.stencil = Stencil::seven_point, .nx = 9, .ny = 10, .nz = 11, .unknowns_per_node = 3},
           0},
          {"27-point", {.stencil = Stencil::twenty_seven_point, .nx = 12, .ny = 10, .nz = 9}, 1},
          {"27-point, 2 unknowns",
           {.stencil = Stencil::twenty_seven_point, .nx = 8, .ny = 13, .nz = 7, .unknowns_per_node = 2},
           1},
          {"5-point", {.stencil = Stencil::five_point, .nx = 31, .ny = 47}, 0}};
}

std::vector<TileShape> shapes() {
  return {{1, 1}, {2, 1}, {1, 3}, {3, 2}, {8, 4}, {10, 1}, {1, 7}, {100, 1}, {1, 100}, {100, 100}};
}

/// What find_lines says of a grid, worked out by its spec.
Lines lines_of(const Grid& grid) {
  Lines lines;
  lines.line = grid.spec.nx * grid.spec.unknowns_per_node;
  lines.plane = lines.line * grid.spec.ny;
  lines.rows = lines.plane * grid.spec.nz;
  lines.shear = grid.shear;
  lines.line_levels = lines.line;
  lines.levels_per_line = grid.spec.unknowns_per_node * (grid.shear + 1);
  lines.levels_per_plane = grid.spec.nz > 1 ? lines.levels_per_line * (grid.shear + 1) : 0;
  return lines;
}

TEST(TilingTest, TilesWaitForEarlierOnesOnlyWhateverTheirShape) {
  for (const Grid& grid : grids()) {
    const CsrMatrix a = make_stencil(grid.spec);
    const Lines lines = lines_of(grid);
    for (const TileShape& shape : shapes()) {
      SCOPED_TRACE(grid.name + ", " + std::to_string(shape.lines) + " x " + std::to_string(shape.planes));
      const Tiling tiling = make_tiling(lines, shape, 1, 132, {});
      for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
        const auto tile = tiles_of(lines, tiling, triangle, tiling.number.data());
        std::vector<Index> rows_of(at(tiling.tiles), 0);
        for (Index i = 0; i < a.rows; ++i) {
          ASSERT_LT(at(tile(i)), rows_of.size());
          ++rows_of[at(tile(i))];
          for (auto e = at(a.row_offsets[at(i)]); e < at(a.row_offsets[at(i) + 1]); ++e) {
            const Index j = a.col_indices[e];
            if (triangle == Triangle::lower ? j < i : j > i) {
              ASSERT_LE(tile(j), tile(i)) << i << " waits for " << j;
            }
          }
        }
        EXPECT_EQ(std::ranges::count(rows_of, 0), 0);
      }
    }
  }
}

TEST(TilingTest, GridsOfAnySizeHaveTilesThatSuit) {
  for (const Index edge : {30, 100, 400}) {
    const Lines lines = lines_of({"7-point", {.stencil = Stencil::seven_point, .nx = edge, .ny = edge, .nz = edge}, 0});
    const Tiling tiling = choose_tiling(lines, 132, {});
    EXPECT_GT(tiling.tiles, 0) << edge;
    EXPECT_GT(tiling.microseconds, 0.0);
    EXPECT_GT(tiling.bytes, 8.0 * edge * edge * edge);
  }
}

TEST(TilingTest, TimesGoByTheDevicesRates) {
  const Lines lines = lines_of({"7-point", {.stencil = Stencil::seven_point, .nx = 60, .ny = 60, .nz = 60}, 0});
  const auto takes = [&](const DeviceRates& rates) { return make_tiling(lines, {8, 4}, 1, 132, rates).microseconds; };
  const double usual = takes({});
  EXPECT_EQ(takes({.byte = 2.0}), usual) << "tiles are steps and hops";
  EXPECT_NEAR(takes({.launch = 2.0}), usual + 6.0, 1e-9);
  EXPECT_GT(takes({.hop = 2.0}), usual);
  EXPECT_GT(takes({.step = 2.0}), usual);
  EXPECT_NEAR(takes({.launch = 2.0, .hop = 2.0, .step = 2.0}), 2.0 * usual, 1e-6 * usual);
}

Distances distances_of(const std::vector<Index>& all) {
  Distances distances;
  for (const Index distance : all) {
    std::size_t octave = 0;
    while ((distance >> (octave + 1)) > 0) ++octave;
    Index& least = distances.least[octave];
    least = distances.most[octave] == 0 ? distance : std::min(least, distance);
    distances.most[octave] = std::max(distances.most[octave], distance);
  }
  return distances;
}

TEST(TilingTest, DistancesThatComeInGroupsSuggestLines) {
  const auto grid = guess_lines(distances_of({1, 63, 64, 65, 4031, 4095, 4096, 4097, 4161}), 64 * 64 * 10);
  ASSERT_EQ(grid.size(), 1U);
  EXPECT_EQ(grid[0].line, 64);
  EXPECT_EQ(grid[0].plane, 4096);
  EXPECT_EQ(grid[0].planes(), 10);
  const auto flat = guess_lines(distances_of({1, 1000}), 1000000);
  ASSERT_EQ(flat.size(), 1U);
  EXPECT_EQ(flat[0].lines(), 1000);
  EXPECT_EQ(flat[0].planes(), 1);
  const auto fill = guess_lines(distances_of({1, 29, 30, 1170, 1199, 1200}), 1200 * 13);
  ASSERT_EQ(fill.size(), 1U);
  EXPECT_EQ(fill[0].line, 30);
  EXPECT_EQ(fill[0].plane, 1200);
}

TEST(TilingTest, DistancesOfAnotherKindSuggestNone) {
  EXPECT_TRUE(guess_lines(distances_of({1}), 1000).empty()) << "one group";
  EXPECT_TRUE(guess_lines(distances_of({1, 2, 3, 5, 8, 13, 21, 34, 55}), 1000).empty()) << "no gap";
  EXPECT_TRUE(guess_lines(distances_of({1, 10, 100, 1000}), 10000).empty()) << "four groups";
  EXPECT_TRUE(guess_lines(distances_of({2, 10, 100}), 1000).empty()) << "rows of a line do not follow each other";
  EXPECT_TRUE(guess_lines(distances_of({1, 10, 105}), 1050).empty()) << "a plane that is no number of lines";
  EXPECT_TRUE(guess_lines(Distances{}, 1000).empty()) << "nothing";
}

class TilesTest : public test::OnDevice<> {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (!IsSkipped() && !kernels::cells_supported()) GTEST_SKIP() << "this device cannot run cells";
  }

  void expect_right(const CsrMatrix& a, Triangle triangle, const TileShape& shape, int ways) {
    const std::vector<double> b = test::right_hand_side(a.rows);
    const test::DeviceTriangle on_device(a, triangle, stream());
    const auto sweep = kernels::make_cells_sweep(on_device.input(), {.tile = shape, .ways = ways}, stream());
    const auto values = upload(a.values, stream());
    const auto pivots = upload(test::inverse_diagonal(a), stream());
    sweep->load_values(values.data(), pivots.data(), stream());
    const auto rhs = upload(b, stream());
    const auto flag = upload(std::vector<int>{0}, stream());
    for (int k = 0; k < 3; ++k) {
      const auto x = upload(std::vector<double>(b.size(), -7.0), stream());
      sweep->solve(rhs.data(), x.data(), flag.data(), stream());
      ASSERT_LE(test::triangular_error(a, {.triangle = triangle}, b, cuda::fetch_array(x.data(), b.size(), stream())),
                1.0);
    }
  }
};

TEST_F(TilesTest, LinesOfGridsAreFound) {
  for (const Grid& grid : grids()) {
    const CsrMatrix a = make_stencil(grid.spec);
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      SCOPED_TRACE(grid.name + (triangle == Triangle::lower ? ", lower" : ", upper"));
      const test::DeviceTriangle on_device(a, triangle, stream());
      const std::optional<Lines> found = kernels::cells::find_lines(on_device.input(), stream());
      const Lines expected = lines_of(grid);
      ASSERT_TRUE(found);
      EXPECT_EQ(found->rows, expected.rows);
      EXPECT_EQ(found->line, expected.line);
      EXPECT_EQ(found->plane, expected.plane);
      EXPECT_EQ(found->shear, expected.shear);
      EXPECT_EQ(found->line_levels, expected.line_levels);
      EXPECT_EQ(found->levels_per_line, expected.levels_per_line);
      EXPECT_EQ(found->levels_per_plane, expected.levels_per_plane);
      unsigned long long entries = 0;
      for (const auto& plane : found->entries) {
        for (const auto of_reach : plane) entries += of_reach;
      }
      EXPECT_EQ(entries, static_cast<unsigned long long>((a.entries() - a.rows) / 2));
    }
  }
}

TEST_F(TilesTest, AnEntryThatDoesNotFitMeansNoLines) {
  // A grid but for one entry, which two tiles would wait for each other by.
  CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 20, .ny = 20, .nz = 20});
  const Index row = 7 * 400 + 3 * 20 + 5;
  auto& column = a.col_indices[at(a.row_offsets[at(row)])];  // of the plane before
  ASSERT_EQ(column, row - 400);
  column = row - 400 + 3 * 20;
  const test::DeviceTriangle on_device(a, Triangle::lower, stream());
  EXPECT_FALSE(kernels::cells::find_lines(on_device.input(), stream()));
  EXPECT_THROW(kernels::make_cells_sweep(on_device.input(), {.tile = {8, 4}}, stream()), Unsupported);
  const test::DeviceTriangle random(make_erdos_renyi_lower(5000, 2e-3, 3), Triangle::lower, stream());
  EXPECT_FALSE(kernels::cells::find_lines(random.input(), stream()));
  EXPECT_THROW(kernels::make_cells_sweep(random.input(), {.tile = {8, 0}}, stream()), InvalidInput);
}

TEST_F(TilesTest, TilesOfAnyShapeSolveGrids) {
  for (const Grid& grid : grids()) {
    const CsrMatrix a = make_stencil(grid.spec);
    for (const TileShape& shape : shapes()) {
      for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
        SCOPED_TRACE(grid.name + (triangle == Triangle::lower ? ", lower, " : ", upper, ") +
                     std::to_string(shape.lines) + " x " + std::to_string(shape.planes));
        for (const int ways : {1, 2, 4}) expect_right(a, triangle, shape, ways);
      }
    }
  }
}

TEST_F(TilesTest, GridsOfManyPlanesAreTiledByThemselves) {
  const CsrMatrix cube =
      make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 40, .ny = 40, .nz = 40, .unknowns_per_node = 2});
  const CsrMatrix square = make_stencil({.stencil = Stencil::five_point, .nx = 400, .ny = 400});
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    const test::DeviceTriangle of_cube(cube, triangle, stream());
    EXPECT_TRUE(kernels::cells::estimate(of_cube.input(), stream()).cut.tiles);
    const test::DeviceTriangle of_square(square, triangle, stream());
    EXPECT_FALSE(kernels::cells::estimate(of_square.input(), stream()).cut.tiles) << "of one plane runs are tiles";
  }
}

}  // namespace
}  // namespace taskdag
