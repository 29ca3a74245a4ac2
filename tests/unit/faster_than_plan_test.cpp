// Where an automatic schedule of host threads is Locking's: narrow levels, irregular patterns, and no stencil.
#include "dag/supersteps/faster_than_plan.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "dag/supersteps/expected_time.hpp"
#include "dag/thread_plan.hpp"
#include "dag/transpose.hpp"
#include "papers/boehnlein/schedules.hpp"
#include "taskdag/generators.hpp"
#include "unit/patterns.hpp"

namespace taskdag {
namespace {

std::optional<SuperstepSchedule> find(const CsrPattern& pattern, Triangle triangle, int cores) {
  return find_faster_than_plan(ThreadPlan(pattern, triangle, cores), pattern, triangle, cores);
}

/// 512 grids of 36 × 4 points, one after the other; the first point of each needs that of the grid `distance` before.
CsrMatrix linked_grids(Index distance) {
  constexpr Index kLine = 36;
  constexpr Index kGrid = 4 * kLine;
  CsrMatrix a{512 * kGrid, 512 * kGrid, {0}, {}, {}};
  for (Index row = 0; row < a.rows; ++row) {
    const Index point = row % kGrid;
    if (point == 0 && row >= distance * kGrid) a.col_indices.push_back(row - distance * kGrid);
    if (point >= kLine) a.col_indices.push_back(row - kLine);
    if (point % kLine != 0) a.col_indices.push_back(row - 1);
    a.col_indices.push_back(row);
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  a.values.assign(a.col_indices.size(), 1.0);
  return a;
}

TEST(FindFasterThanPlan, FindsSuperstepsInNarrowLevelsAndNothingInAChain) {
  const CsrMatrix band = make_narrow_band_lower(30000, 0.14, 10, 1);  // 37 rows in the mean level
  ASSERT_EQ(ThreadPlan(band.pattern(), Triangle::lower, 16).threads(), 1);
  const auto schedule = find(band.pattern(), Triangle::lower, 16);
  ASSERT_TRUE(schedule);
  EXPECT_EQ(find_fault(*schedule, band.pattern(), Triangle::lower), std::nullopt);
  EXPECT_LT(4 * expected_time(*schedule, band.pattern(), Triangle::lower),
            3 * expected_serial_time(band.pattern(), Triangle::lower));
  EXPECT_FALSE(find(band.pattern(), Triangle::lower, 1));
  EXPECT_FALSE(find(test::chain(30000).pattern(), Triangle::lower, 16));
}

TEST(FindFasterThanPlan, TakesLockingByItsWaitsWhereOneThreadDoesNotForeseeWhereRowsEnd) {
  for (const std::uint64_t seed : {1U, 4U}) {  // 48 and 29 rows in the mean level
    const CsrMatrix band = make_narrow_band_lower(40000, 0.03, 42, seed);
    const Transposed transposed = transpose(band.pattern());
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      const CsrPattern pattern = triangle == Triangle::lower ? band.pattern() : transposed.view();
      ASSERT_EQ(ThreadPlan(pattern, triangle, 16).threads(), 1);
      const auto schedule = find(pattern, triangle, 16);
      ASSERT_TRUE(schedule);
      EXPECT_EQ(find_fault(*schedule, pattern, triangle), std::nullopt);
      const std::int64_t serial = expected_serial_time(pattern, triangle);
      EXPECT_GT(expected_time(*schedule, pattern, triangle), serial);
      EXPECT_LE(expected_time_with_waits(*schedule, pattern, triangle), serial);
    }
  }
}

TEST(FindFasterThanPlan, LeavesToOneThreadWhatItForesees) {
  const CsrMatrix strip = make_stencil({.stencil = Stencil::five_point, .nx = 40, .ny = 2000});
  const CsrMatrix blocks = make_stencil({.stencil = Stencil::five_point, .nx = 24, .ny = 2000, .unknowns_per_node = 2});
  const CsrMatrix remembered = make_narrow_band_lower(30000, 0.03, 42, 1);
  for (const CsrMatrix* a : {&strip, &blocks, &remembered}) {
    ASSERT_EQ(ThreadPlan(a->pattern(), Triangle::lower, 16).threads(), 1);
    const SuperstepSchedule schedule =
        make_superstep_schedule(SolveSchedule::locking, a->pattern(), Triangle::lower, 16, {.gather = true});
    EXPECT_LT(expected_time_with_waits(schedule, a->pattern(), Triangle::lower),
              expected_serial_time(a->pattern(), Triangle::lower));
    EXPECT_FALSE(find(a->pattern(), Triangle::lower, 16));
  }
}

TEST(FindFasterThanPlan, TakesLockingWhereThePlanJumpsFromRowToRow) {
  const CsrMatrix random = make_erdos_renyi_lower(20000, 5e-4, 1);
  const Transposed transposed = transpose(random.pattern());
  ASSERT_EQ(ThreadPlan(random.pattern(), Triangle::lower, 16).threads(), 16);
  const auto lower = find(random.pattern(), Triangle::lower, 16);
  const auto upper = find(transposed.view(), Triangle::upper, 16);
  ASSERT_TRUE(lower && upper);
  EXPECT_EQ(find_fault(*lower, random.pattern(), Triangle::lower), std::nullopt);
  EXPECT_EQ(find_fault(*upper, transposed.view(), Triangle::upper), std::nullopt);
  EXPECT_FALSE(find(random.pattern(), Triangle::lower, 3));
}

TEST(FindFasterThanPlan, TakesLockingWhereHandOversLeaveThreadsIdle) {
  const CsrMatrix strip = make_stencil({.stencil = Stencil::five_point, .nx = 200, .ny = 1500});
  const ThreadPlan plan(strip.pattern(), Triangle::lower, 16);
  ASSERT_EQ(plan.threads(), 16);
  const auto schedule = find_faster_than_plan(plan, strip.pattern(), Triangle::lower, 16);
  ASSERT_TRUE(schedule);
  EXPECT_LE(4 * expected_time(*schedule, strip.pattern(), Triangle::lower), 3 * plan.expected_time());
}

TEST(FindFasterThanPlan, TakesLockingForAThirdOfThePlansTimeWhereThatLosesMostOfTheCores) {
  const CsrMatrix deep = linked_grids(2);
  const CsrMatrix flatter = linked_grids(3);  // the plan uses more than a sixth of the cores
  for (const CsrMatrix* a : {&deep, &flatter}) {
    const ThreadPlan plan(a->pattern(), Triangle::lower, 16);
    ASSERT_EQ(plan.threads(), 16);
    const std::int64_t serial = expected_serial_time(a->pattern(), Triangle::lower);
    EXPECT_EQ(16 * plan.expected_time() > 6 * serial, a == &deep);
  }
  const auto schedule = find(deep.pattern(), Triangle::lower, 16);
  ASSERT_TRUE(schedule);
  EXPECT_EQ(find_fault(*schedule, deep.pattern(), Triangle::lower), std::nullopt);
  EXPECT_FALSE(find(flatter.pattern(), Triangle::lower, 16));
}

TEST(FindFasterThanPlan, KeepsThePlanOfAStencil) {
  for (const Stencil stencil : {Stencil::seven_point, Stencil::twenty_seven_point}) {
    const CsrMatrix grid = make_stencil({.stencil = stencil, .nx = 40, .ny = 40, .nz = 40});
    for (const int cores : {4, 16}) {
      for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
        ASSERT_EQ(ThreadPlan(grid.pattern(), triangle, cores).threads(), cores);
        EXPECT_FALSE(find(grid.pattern(), triangle, cores));
      }
    }
  }
}

}  // namespace
}  // namespace taskdag
