// The parts of taskdag_host_schedules: sweeps as the paper measures them, generated matrices, the file of rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "dag/levels.hpp"
#include "dag/supersteps/expected_time.hpp"
#include "dag/supersteps/faster_than_plan.hpp"
#include "dag/thread_plan.hpp"
#include "kernels/sptrsv/host/blocks/superstep_sweep.hpp"
#include "large_cases.hpp"
#include "measure.hpp"
#include "row_file.hpp"
#include "taskdag/generators.hpp"

namespace taskdag::benchmark {
namespace {

System make_system(CsrMatrix a) {
  System system{std::move(a), {}, {}, 0};
  const auto rows = static_cast<std::size_t>(system.a.rows);
  for (std::size_t i = 0; i < rows; ++i) system.b.push_back(1.0 + 0.25 * static_cast<double>(i % 7));
  system.reference.resize(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    double sum = system.b[i];
    const auto end = static_cast<std::size_t>(system.a.row_offsets[i + 1]) - 1;
    for (auto e = static_cast<std::size_t>(system.a.row_offsets[i]); e < end; ++e) {
      sum -= system.a.values[e] * system.reference[static_cast<std::size_t>(system.a.col_indices[e])];
    }
    system.reference[i] = sum;
  }
  system.wavefronts = count_levels(system.a.pattern(), Triangle::lower).levels;
  return system;
}

std::vector<System> make_systems() {
  std::vector<System> systems;
  systems.push_back(make_system(take_lower(make_narrow_band_lower(3000, 0.14, 10.0, 1))));
  systems.push_back(make_system(take_lower(make_erdos_renyi_lower(1000, 0.02, 2))));
  systems.push_back(make_system(take_lower(make_stencil({.stencil = Stencil::five_point, .nx = 40, .ny = 40}))));
  systems.push_back(make_system(take_lower(make_geometric_graph(2000, 3, 14.0, true, 1))));
  return systems;
}

TEST(Variants, AllGiveTheSerialResultOnAnyNumberOfThreadsEveryTime) {
  for (const int cores : {1, 2, 5}) {
    host::ThreadPool pool(cores);
    for (const System& system : make_systems()) {
      for (const Variant& variant : list_variants()) {
        Prepared prepared;
        if (is_prepared_apart(variant)) prepared = prepare(variant, system.a, cores);
        const Measurement m = measure(variant, &prepared, system, cores, pool, {.solves = 3});
        ASSERT_TRUE(m.solving) << variant.name;
        EXPECT_LE(m.solving->error, 1e-14) << variant.name << " on " << cores;
        EXPECT_EQ(m.supersteps > 0, is_prepared_apart(variant)) << variant.name;
      }
    }
  }
}

TEST(PaperSweep, GivesTheBitsOfTheLibrarysSweepInBothOrders) {
  constexpr int kCores = 3;
  host::ThreadPool pool(kCores);
  for (const System& system : make_systems()) {
    const SuperstepSchedule schedule =
        make_superstep_schedule(SolveSchedule::locking, system.a.pattern(), Triangle::lower, kCores);
    kernels::SuperstepSweep library(system.a.pattern(), nullptr, Triangle::lower, pool, schedule);
    library.load(system.a.values.data());
    std::vector<double> expected(system.b.size());
    library.run(
        expected.data(), [&](Index i) { return system.b[static_cast<std::size_t>(i)]; },
        [](Index, Index, double value) { return value; }, [](Index, double) {});
    for (const PaperOrder order : {PaperOrder::users, PaperOrder::scheduled}) {
      PaperSweep sweep(system.a, schedule, order, pool);
      std::vector<double> x(system.b.size());
      for (int solve = 0; solve < 3; ++solve) sweep.run(sweep.arranged(system.b).data(), x.data());
      EXPECT_EQ(x, sweep.arranged(expected));
    }
  }
}

TEST(PaperSweep, LeavesVectorsAloneInTheUsersOrderAndSortsThemByScheduleInTheOther) {
  const CsrMatrix a = take_lower(make_narrow_band_lower(50, 0.2, 5.0, 1));
  host::ThreadPool pool(2);
  const SuperstepSchedule schedule = make_superstep_schedule(SolveSchedule::locking, a.pattern(), Triangle::lower, 2);
  std::vector<double> rows;
  for (Index i = 0; i < a.rows; ++i) rows.push_back(i);
  EXPECT_EQ(PaperSweep(a, schedule, PaperOrder::users, pool).arranged(rows), rows);
  EXPECT_EQ(PaperSweep(a, schedule, PaperOrder::scheduled, pool).arranged(rows),
            std::vector<double>(schedule.order.begin(), schedule.order.end()));
}

/// Columns ascend, each row has its diagonal, and the pattern is symmetric.
void expect_symmetric(const CsrMatrix& a) {
  std::vector<std::pair<Index, Index>> entries;
  for (Index i = 0; i < a.rows; ++i) {
    const auto begin = a.col_indices.begin() + a.row_offsets[static_cast<std::size_t>(i)];
    const auto end = a.col_indices.begin() + a.row_offsets[static_cast<std::size_t>(i) + 1];
    EXPECT_TRUE(std::adjacent_find(begin, end, std::greater_equal<>()) == end) << i;
    EXPECT_TRUE(std::binary_search(begin, end, i)) << i;
    for (auto column = begin; column != end; ++column) entries.emplace_back(i, *column);
  }
  auto mirrored = entries;
  for (auto& [i, j] : mirrored) std::swap(i, j);
  std::ranges::sort(mirrored);
  EXPECT_EQ(entries, mirrored);
}

TEST(GeometricGraph, IsSymmetricAndHasAboutTheNeighboursWanted) {
  for (const int dimension : {2, 3}) {
    for (const bool shuffled : {false, true}) {
      const CsrMatrix a = make_geometric_graph(3000, dimension, 12.0, shuffled, 1);
      expect_symmetric(a);
      const double neighbours = static_cast<double>(a.entries()) / a.rows - 1.0;
      EXPECT_GT(neighbours, 8.0);  // fewer than 12: there are none beyond the border
      EXPECT_LT(neighbours, 12.5);
    }
  }
}

/// Rows follow each other, hand-overs cost the plan more than two thirds of the cores, and Locking has fewer: `auto`
/// takes it (dag/supersteps/faster_than_plan.hpp), though a third of the dependencies lead to another thread.
TEST(GeometricGraph, IsSolvedByLocking) {
  const CsrMatrix a = take_lower(make_geometric_graph(120000, 2, 14.0, false, 1));
  const ThreadPlan plan(a.pattern(), Triangle::lower, 16);
  ASSERT_EQ(plan.threads(), 16);
  const auto schedule = find_faster_than_plan(plan, a.pattern(), Triangle::lower, 16);
  ASSERT_TRUE(schedule);
  const std::int64_t time = expected_time(*schedule, a.pattern(), Triangle::lower);
  EXPECT_LE(4 * time, 3 * plan.expected_time());
  EXPECT_GT(3 * time, plan.expected_time()) << "another rule would take it";
}

TEST(DissectedGrid, HasEveryPointOnceAndFewerLevels) {
  const std::vector<Index> order = dissect_grid(30, 20, 10);
  std::vector<Index> sorted = order;
  std::ranges::sort(sorted);
  for (Index i = 0; i < 6000; ++i) ASSERT_EQ(sorted[static_cast<std::size_t>(i)], i);
  const CsrMatrix grid = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 30, .ny = 20, .nz = 10});
  const CsrMatrix dissected = permuted(grid, order);
  expect_symmetric(dissected);
  EXPECT_EQ(dissected.entries(), grid.entries());
  EXPECT_LT(count_levels(dissected.pattern(), Triangle::lower).levels,
            count_levels(grid.pattern(), Triangle::lower).levels);
}

TEST(DissectedGrid, KeepsTheUnknownsOfANodeTogether) {
  const StencilSpec spec{.stencil = Stencil::five_point, .nx = 12, .ny = 9, .unknowns_per_node = 2};
  const CsrMatrix a = permuted(make_stencil(spec), dissect_grid(12, 9, 1), 2);
  expect_symmetric(a);
  for (Index node = 0; node < 108; ++node) {
    const auto first = static_cast<std::size_t>(2 * node);
    EXPECT_EQ(a.row_offsets[first + 1] - a.row_offsets[first], a.row_offsets[first + 2] - a.row_offsets[first + 1]);
  }
}

TEST(LargeCases, AreTwentyAtLeastUnderNamesOfTheirOwn) {
  std::vector<Case> cases = list_large_cases();
  EXPECT_GE(cases.size(), 20U);
  std::ranges::sort(cases, {}, &Case::name);
  EXPECT_EQ(std::ranges::adjacent_find(cases, {}, &Case::name), cases.end());
}

class RowFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::path(::testing::TempDir()) /
            (std::string("taskdag_rows_") + ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv");
    std::filesystem::remove(path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  [[nodiscard]] std::string text() const {
    std::ifstream file(path_);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
  }

  static Row row(const std::string& matrix, const char* variant) {
    Row result{"large", matrix, 10, 20, variant, {}, 2.0};
    result.measured.wavefronts = 4;
    result.measured.supersteps = 2;
    result.measured.solving = Solving{1.0, 0.5, 1.5, 2, 0.1, 0.0};
    return result;
  }

  std::filesystem::path path_;
};

TEST_F(RowFileTest, KnowsItsRowsAgainAndAddsTheOthers) {
  {
    RowFile file(path_.string(), false, {"abc", "machine", 4});
    file.add(row("grid, 3 unknowns", "locking, no Funnel"));
  }
  const std::string before = text();
  RowFile again(path_.string(), true, {"def", "machine", 4});
  EXPECT_TRUE(again.has("large", "grid, 3 unknowns", "locking, no Funnel"));
  EXPECT_FALSE(again.has("large", "grid, 3 unknowns", "locking"));
  EXPECT_FALSE(again.has("real", "grid, 3 unknowns", "locking, no Funnel"));
  again.add(row("grid, 3 unknowns", "locking, no Funnel"));
  EXPECT_EQ(text(), before);
  again.add(row("grid, 3 unknowns", "locking"));
  EXPECT_NE(
      text().find("def,4,large,\"grid, 3 unknowns\",10,20,4,\"locking\",2,2,,,0.1,2,1,0.5,1.5,2,,0,\"machine\"\n"),
      std::string::npos);
  EXPECT_FALSE(RowFile(path_.string(), true, {"def", "machine", 8}).has("large", "grid, 3 unknowns", "locking"));
}

TEST_F(RowFileTest, DropsALineThatWasCutOff) {
  { RowFile(path_.string(), false, {"abc", "machine", 4}).add(row("a", "locking")); }
  const std::string whole = text();
  { std::ofstream(path_, std::ios::app) << "abc,4,large,\"b\",10,20,4,\"locking\",2"; }
  RowFile again(path_.string(), true, {"abc", "machine", 4});
  EXPECT_FALSE(again.has("large", "b", "locking"));
  again.add(row("b", "locking"));
  EXPECT_EQ(text().substr(0, whole.size()), whole);
  EXPECT_EQ(std::ranges::count(text(), '\n'), 3);
}

TEST_F(RowFileTest, BeginsAnewWithoutAppend) {
  { RowFile(path_.string(), false, {"abc", "machine", 4}).add(row("a", "locking")); }
  RowFile again(path_.string(), false, {"abc", "machine", 4});
  EXPECT_FALSE(again.has("large", "a", "locking"));
}

TEST_F(RowFileTest, SaysWhenAScheduleHasPaidWhereItKnowsWhatMakingItTook) {
  Row made = row("a", "locking");
  EXPECT_FALSE(amortisation(made));
  made.measured.schedule_ms = 5.0;
  EXPECT_DOUBLE_EQ(*amortisation(made), 5.0);
  made.serial_ms = 1.0;
  EXPECT_EQ(*amortisation(made), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace taskdag::benchmark
