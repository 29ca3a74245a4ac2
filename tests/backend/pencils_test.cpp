// Pencils of grids of seven points and of 27 against the serial reference.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grid_sweep_fixture.hpp"
#include "kernels/sptrsv/schedules/cells/cut/cost.hpp"
#include "kernels/sptrsv/schedules/cells/pencils/layout.hpp"
#include "kernels/sptrsv/schedules/cells/pencils/sweep.hpp"
#include "support/periodic.hpp"
#include "taskdag/block_ordering.hpp"
#include "taskdag/context.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

using kernels::cells::PencilLocation;
using kernels::cells::Pencils;
using kernels::cells::PencilTickets;
using kernels::cells::SevenPoints;
using kernels::cells::ThreeUnknowns;
using kernels::cells::TwentySevenPoints;
using test::kTriangles;
using test::without;

struct Shape {
  Index columns;
  Index lines;
  Index planes;
  bool operator==(const Shape&) const = default;
};

std::string name_of(const Shape& shape) {
  return std::to_string(shape.columns) + " x " + std::to_string(shape.lines) + " x " + std::to_string(shape.planes);
}

template <class Points>
Shape shape_of(const Pencils<Points>& pencils) {
  return {pencils.columns, pencils.lines, pencils.planes};
}

using Grids = testing::Types<SevenPoints, TwentySevenPoints, ThreeUnknowns>;
struct GridName {
  template <class Points>
  static std::string GetName(int) {
    if (Points::kUnknowns == 3) return "OfThreeUnknowns";
    return Points::kEntries == 3 ? "OfSevenPoints" : "OfTwentySevenPoints";
  }
};
/// Where pencils lie, without a GPU.
template <class Points>
class PencilLocationsTest : public testing::Test {
 protected:
  using Place = PencilLocation<Points>;

  static std::vector<Pencils<Points>> grids() {
    return {{6, 5, 3}, {40, 31, 4}, {3, 70, 9}, {9, 93, 64}, {5, 2, 200}, {7, 200, 3}, {20, 100, 100}, {64, 64, 64}};
  }
  /// Calls visit(place) for each pencil.
  template <class Visit>
  static void for_each_pencil(const Pencils<Points>& grid, const Visit& visit) {
    for (Index slab = 0; slab < grid.slabs(); ++slab) {
      for (Index band = grid.first_band(slab); band <= grid.last_band(slab); ++band) visit(Place{slab, band});
    }
  }
  static bool is_line(const Pencils<Points>& grid, Index line) { return line >= 0 && line < grid.lines; }
};
TYPED_TEST_SUITE(PencilLocationsTest, Grids, GridName);

TYPED_TEST(PencilLocationsTest, EachLineIsInOneOfThem) {
  for (const auto& grid : this->grids()) {
    SCOPED_TRACE(name_of(shape_of(grid)));
    std::vector<int> found(at(grid.planes) * at(grid.lines));
    std::map<Index, int> numbers;
    this->for_each_pencil(grid, [&](const auto& place) {
      EXPECT_TRUE(place.is_one(grid));
      ++numbers[place.number(grid)];
      for (Index z = place.slab * TypeParam::kPlanes; z < grid.planes && z / TypeParam::kPlanes == place.slab; ++z) {
        for (Index each = TypeParam::kPassing; each < Pencils<TypeParam>::kPlaces; ++each) {
          const Index line = place.first_line(z) + each;
          if (this->is_line(grid, line)) ++found[at(z * grid.lines + line)];
        }
      }
    });
    for (const int count : found) ASSERT_EQ(count, 1);
    for (const auto& [number, count] : numbers) {
      EXPECT_EQ(count, 1);
      EXPECT_TRUE(number >= 0 && number < grid.count());
    }
  }
}

/// A row's operands come by the places that its compute warp has them from: its own and those before it, in this plane
/// and the plane below. Places that pass lines on have them from the band before.
TYPED_TEST(PencilLocationsTest, OperandsComeByThePlacesBefore) {
  for (const auto& grid : this->grids()) {
    SCOPED_TRACE(name_of(shape_of(grid)));
    this->for_each_pencil(grid, [&](const auto& place) {
      const auto expect_place = [&](Index z, Index line, Index of_line) {
        if (z < 0 || !this->is_line(grid, line)) return;
        ASSERT_GE(of_line, 0);
        ASSERT_EQ(place.first_line(z) + of_line, line);
        const Index slab = z / TypeParam::kPlanes;
        const Index band = of_line < TypeParam::kPassing ? place.band - 1 : place.band;
        EXPECT_TRUE((PencilLocation<TypeParam>{slab, place.band}.is_one(grid))) << "plane " << z << ", line " << line;
        EXPECT_TRUE((PencilLocation<TypeParam>{slab, band}.is_one(grid))) << "plane " << z << ", line " << line;
      };
      for (Index z = place.slab * TypeParam::kPlanes; z < grid.planes && z / TypeParam::kPlanes == place.slab; ++z) {
        for (Index each = TypeParam::kPassing; each < Pencils<TypeParam>::kPlaces; ++each) {
          const Index line = place.first_line(z) + each;
          if (!this->is_line(grid, line)) continue;
          expect_place(z, line - 1, each - 1);
          expect_place(z - 1, line + TypeParam::kShear, each);
          for (Index before = 1; before <= 2 * TypeParam::kShear; ++before)
            expect_place(z - 1, line + TypeParam::kShear - before, each - before);
        }
      }
    });
  }
}

TYPED_TEST(PencilLocationsTest, TicketsTakeEachAndWaitForEarlierOnes) {
  for (const auto& grid : this->grids()) {
    for (const int blocks : {1, 2, 8}) {
      SCOPED_TRACE(name_of(shape_of(grid)) + ", blocks " + std::to_string(blocks));
      const PencilTickets<TypeParam> tickets{grid, blocks};
      std::map<Index, std::pair<Index, Index>> taken;  // by number: ticket, slab
      for (Index ticket = 0; ticket < tickets.count(); ++ticket) {
        if (!tickets.has_pencils(ticket)) continue;
        Index last = -1;
        for (Index slab = tickets.first_slab(ticket); slab < tickets.first_slab(ticket) + blocks; ++slab) {
          const PencilLocation<TypeParam> place{slab, tickets.band(ticket)};
          if (!place.is_one(grid)) continue;
          EXPECT_TRUE(taken.emplace(place.number(grid), std::pair(ticket, slab)).second);
          last = slab;
        }
        EXPECT_EQ(tickets.last_slab(ticket), last);
      }
      this->for_each_pencil(grid, [&](const auto& place) {
        ASSERT_TRUE(taken.contains(place.number(grid)));
        const auto mine = taken.at(place.number(grid));
        const auto waits_for = [&](const PencilLocation<TypeParam>& other) {
          EXPECT_TRUE(other.is_one(grid));
          EXPECT_LT(taken.at(other.number(grid)), mine);
        };
        if (place.has_before(grid)) waits_for({place.slab, place.band - 1});
        if (place.has_below(grid)) waits_for({place.slab - 1, place.band});
      });
    }
  }
}

/// Entries beside the diagonal are small enough for results to stay small with a unit diagonal.
template <class Points>
CsrMatrix grid(const Shape& shape) {
  constexpr bool kSeven = Points::kEntries == 3;
  CsrMatrix a = make_stencil({.stencil = kSeven ? Stencil::seven_point : Stencil::twenty_seven_point,
                              .nx = shape.columns,
                              .ny = shape.lines,
                              .nz = shape.planes,
                              .unknowns_per_node = Points::kUnknowns,
                              .wind = 0.3});
  for (double& value : a.values) value *= kSeven ? 0.2 : 0.05 / Points::kUnknowns;
  return a;
}

template <class Points>
class PencilsTest : public test::OnGridSweeps {
 protected:
  std::optional<Pencils<Points>> pencils_of(const kernels::SweepInput& input) {
    const auto lines = kernels::cells::find_lines(input, stream());
    return lines ? kernels::cells::find_pencils<Points>(input, *lines, stream()) : std::nullopt;
  }

  void expect_right_pencils(const CsrMatrix& a, const Shape& shape, Triangle triangle) {
    expect_right(a, triangle, [&](const kernels::SweepInput& input) {
      return kernels::cells::make_pencils_sweep(input, Pencils<Points>{shape.columns, shape.lines, shape.planes},
                                                stream());
    });
  }
  /// Of those that are found.
  test::MakeSweep found() {
    return [this](const kernels::SweepInput& input) {
      return kernels::cells::make_pencils_sweep(input, pencils_of(input).value(), stream());
    };
  }
};

TYPED_TEST_SUITE(PencilsTest, Grids, GridName);

TYPED_TEST(PencilsTest, GridsOfAllShapes) {
  // One pencil and less, a line and a plane more than one, several of both, short lines, long ones.
  constexpr Shape kShapes[] = {{6, 5, 3},   {40, 31, 4},  {40, 32, 5},  {3, 70, 9},  {100, 2, 2},
                               {17, 93, 8}, {333, 33, 6}, {64, 64, 64}, {2, 2, 300}, {50, 200, 3}};
  for (const Shape& shape : kShapes) {
    const CsrMatrix a = grid<TypeParam>(shape);
    for (const Triangle triangle : kTriangles) {
      SCOPED_TRACE(name_of(shape) + (triangle == Triangle::lower ? ", lower" : ", upper"));
      this->expect_right_pencils(a, shape, triangle);
    }
  }
}

TYPED_TEST(PencilsTest, EntriesInSinglePrecision) {
  for (const Shape& shape : {Shape{6, 5, 3}, Shape{17, 93, 8}, Shape{64, 64, 64}}) {
    for (const Triangle triangle : kTriangles) {
      SCOPED_TRACE(name_of(shape) + (triangle == Triangle::lower ? ", lower" : ", upper"));
      this->expect_right_in_single(grid<TypeParam>(shape), triangle, this->found());
    }
  }
}

/// More pencils than the device has room for: blocks take a second one.
TYPED_TEST(PencilsTest, MorePencilsThanBlocks) {
  const Shape shape{6, 95, 400};
  const CsrMatrix a = grid<TypeParam>(shape);
  for (const Triangle triangle : kTriangles) this->expect_right_pencils(a, shape, triangle);
}

TYPED_TEST(PencilsTest, RowsMayLackEntries) {
  const Shape shape{30, 50, 20};
  const CsrMatrix a = without(grid<TypeParam>(shape), [](Index i, Index j) { return (i * 7 + j * 3) % 11 == 0; });
  for (const Triangle triangle : kTriangles) {
    const test::DeviceTriangle on_device(a, triangle, this->stream());
    EXPECT_TRUE(this->pencils_of(on_device.input()));
    this->expect_right_pencils(a, shape, triangle);
  }
}

TYPED_TEST(PencilsTest, GridsAreFound) {
  for (const Shape& shape : {Shape{40, 20, 2}, Shape{50, 57, 30}, Shape{9, 70, 11}, Shape{70, 10, 40}}) {
    for (const Triangle triangle : kTriangles) {
      const test::DeviceTriangle on_device(grid<TypeParam>(shape), triangle, this->stream());
      const auto found = this->pencils_of(on_device.input());
      ASSERT_TRUE(found) << name_of(shape);
      EXPECT_EQ(shape_of(*found), shape) << name_of(shape_of(*found));
    }
  }
}

TYPED_TEST(PencilsTest, OtherPatternsAreNone) {
  constexpr Index kUnknowns = TypeParam::kUnknowns;
  const auto stencil = [](Stencil kind, Index unknowns) {
    return make_stencil({.stencil = kind, .nx = 12, .ny = 12, .nz = 12, .unknowns_per_node = unknowns});
  };
  std::vector<CsrMatrix> others = {
      make_stencil({.stencil = Stencil::five_point, .nx = 40, .ny = 40}),
      grid<TypeParam>({12, 1, 12}),
      stencil(Stencil::twenty_seven_point, 4),
      // With three unknowns a row may have the entries of the next two.
      kUnknowns == 3             ? stencil(Stencil::seven_point, 6)
      : TypeParam::kEntries == 3 ? stencil(Stencil::twenty_seven_point, 1)
                                 : stencil(Stencil::seven_point, 2),
  };
  // The last row of a line is coupled with the first of the next one; the last line of a plane likewise.
  constexpr Index kPlane = 144 * kUnknowns;
  for (const Index distance : {kUnknowns, 12 * kUnknowns}) {
    CsrMatrix around = grid<TypeParam>({12, 12, 12});
    for (Index i = 0; i < around.rows; ++i) {
      for (auto e = at(around.row_offsets[at(i)]); e < at(around.row_offsets[at(i) + 1]); ++e) {
        if (i % kPlane == 0 && around.col_indices[e] == i - kPlane) around.col_indices[e] = i - distance;
      }
    }
    others.push_back(around);
  }
  for (std::size_t k = 0; k < others.size(); ++k) {
    const test::DeviceTriangle on_device(others[k], Triangle::lower, this->stream());
    EXPECT_FALSE(this->pencils_of(on_device.input())) << "pattern " << k;
  }
}

TYPED_TEST(PencilsTest, VectorsInOtherOrders) {
  this->expect_right_in_other_orders(grid<TypeParam>({30, 40, 13}), this->found());
}

TYPED_TEST(PencilsTest, WhatIsNotFiniteStaysWhereItBelongs) {
  // Of the last line and of the last plane of a pencil, of the last line of a plane, and of others.
  std::vector<Index> points = {0, 20 * 30, 20 * 30 + 7, 20 * 39 + 3, 20 * 40 * 3 + 20 * 5, 20 * 40 * 7 + 20 * 30 + 19};
  std::vector<Index> rows;
  for (const Index point : points) rows.push_back(point * TypeParam::kUnknowns + point % TypeParam::kUnknowns);
  this->expect_what_is_not_finite_to_stay(grid<TypeParam>({20, 40, 10}), rows, this->found());
}

using PencilsOfSevenPoints = PencilsTest<SevenPoints>;
TEST_F(PencilsOfSevenPoints, RecurrencesOfReciprocals) {
  for (const Precision precision : {Precision::in_double, Precision::in_single})
    expect_right_reciprocals(grid<SevenPoints>({25, 40, 9}), precision, found());
}
TEST_F(PencilsOfSevenPoints, EntriesAreFoundInAPatternThatStays) {
  for (const Precision precision : {Precision::in_double, Precision::in_single}) {
    for (const Triangle triangle : kTriangles)
      expect_the_same_without_sources(grid<SevenPoints>({25, 40, 9}), triangle, precision, found());
  }
}

/// With one level of fill a grid of seven points has some of the entries of one of 27.
using PencilsOfTwentySevenPoints = PencilsTest<TwentySevenPoints>;
TEST_F(PencilsOfTwentySevenPoints, FillOfSevenPoints) {
  CsrMatrix a = test::with_fill(grid<SevenPoints>({30, 40, 13}), {.levels = 1});
  for (double& value : a.values) value = value == 0.0 ? 0.03 : value;
  for (const Triangle triangle : kTriangles) expect_right(a, triangle, found());
}

/// The schedule cells takes pencils where the grid has its levels.
TYPED_TEST(PencilsTest, CellsArePencils) {
  const CsrMatrix a = grid<TypeParam>({40, 40, 40});
  for (const Triangle triangle : kTriangles) {
    const test::DeviceTriangle on_device(a, triangle, this->stream());
    const auto cut = kernels::cells::estimate(on_device.input(), this->stream()).cut;
    EXPECT_EQ(cut.pencils_of_7.has_value(), TypeParam::kEntries == 3);
    EXPECT_EQ(cut.pencils_of_27.has_value(), TypeParam::kEntries == 13);
    EXPECT_EQ(cut.pencils_of_three.has_value(), TypeParam::kUnknowns == 3);
  }
}

CsrMatrix with_entry(CsrMatrix a, Index row, Index column) {
  const auto begin = a.col_indices.begin();
  const auto place = std::lower_bound(begin + a.row_offsets[at(row)], begin + a.row_offsets[at(row + 1)], column);
  a.values.insert(a.values.begin() + (place - begin), -0.01);
  a.col_indices.insert(place, column);
  for (Index later = row + 1; later <= a.rows; ++later) ++a.row_offsets[at(later)];
  return a;
}

/// Not what most rows look like counts, but all entries of both triangles.
TYPED_TEST(PencilsTest, GridsOfLargeStencilsRunInTheirOrder) {
  const Context context = Context::create({.backend = Backend::cuda});
  const auto runs = [&](const CsrMatrix& a) {
    return runs_in_order(context, a.pattern(), MemorySpace::host, {this->stream()});
  };
  const CsrMatrix a = grid<TypeParam>({20, 21, 22});
  EXPECT_EQ(runs(a), TypeParam::kEntries != SevenPoints::kEntries);
  EXPECT_FALSE(runs(with_entry(a, a.rows - 1, 0)));
  EXPECT_FALSE(runs(with_entry(a, 0, a.rows - 1)));
  EXPECT_FALSE(runs(test::periodic_grid(20)));
}

}  // namespace
}  // namespace taskdag
