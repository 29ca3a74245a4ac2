// The names of the schedules, and which backend has which.
#include "taskdag/solve_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kernels/sptrsv/schedules/blocks/cost.hpp"
#include "kernels/sptrsv/schedules/catalogue/expectation.hpp"
#include "kernels/sptrsv/schedules/flat/cost.hpp"
#include "solver/choice/request.hpp"
#include "solver/choice/require_schedule.hpp"
#include "taskdag/error.hpp"
#include "taskdag/factorization.hpp"
#include "taskdag/sor.hpp"
#include "taskdag/triangular.hpp"

namespace taskdag {
namespace {

TEST(SolveSchedule, NamesAreDistinctAndLeadBack) {
  std::set<std::string> names;
  for (const SolveSchedule schedule : solve_schedules(Backend::automatic)) {
    names.insert(to_string(schedule));
    EXPECT_EQ(solve_schedule_from(to_string(schedule)), schedule);
  }
  EXPECT_EQ(names.size(), solve_schedules(Backend::automatic).size());
  EXPECT_EQ(names.size(), static_cast<std::size_t>(SolveSchedule::serial) + 1);
  EXPECT_STREQ(to_string(SolveSchedule::automatic), "auto");
  EXPECT_STREQ(to_string(SolveSchedule::cusparse), "cusparse");
  EXPECT_STREQ(to_string(SolveSchedule::plan), "plan");
  EXPECT_STREQ(to_string(SolveSchedule::serial), "serial");
}

TEST(SolveSchedule, UnknownNameIsAnErrorWithTheList) {
  for (const char* const name : {"", "Flat", "flat ", "cell"}) {
    try {
      static_cast<void>(solve_schedule_from(name));
      ADD_FAILURE() << "nothing was thrown for " << name;
    } catch (const InvalidInput& error) {
      for (const SolveSchedule schedule : solve_schedules(Backend::automatic)) {
        EXPECT_NE(std::string(error.what()).find(to_string(schedule)), std::string::npos) << error.what();
      }
    }
  }
}

TEST(SolveSchedule, EveryOneBelongsToABackend) {
  const auto cuda = solve_schedules(Backend::cuda);
  const auto host = solve_schedules(Backend::host);
  const auto has = [](const auto& list, SolveSchedule s) { return std::ranges::find(list, s) != list.end(); };
  EXPECT_EQ(cuda.front(), SolveSchedule::automatic);
  EXPECT_EQ(host.front(), SolveSchedule::automatic);
  for (const SolveSchedule schedule : solve_schedules(Backend::automatic)) {
    EXPECT_EQ(has(cuda, schedule) || has(host, schedule), schedule != SolveSchedule::blocks) << to_string(schedule);
  }
  EXPECT_TRUE(has(cuda, SolveSchedule::cells) && !has(host, SolveSchedule::cells));
  EXPECT_TRUE(has(host, SolveSchedule::plan) && !has(cuda, SolveSchedule::plan));
  EXPECT_TRUE(has(host, SolveSchedule::locking) && has(cuda, SolveSchedule::locking));
}

TEST(SolveSchedule, ThatOfTheOtherBackendIsRefusedWithThisOnesNames) {
  for (const Backend backend : {Backend::cuda, Backend::host}) {
    const auto own = solve_schedules(backend);
    for (const SolveSchedule schedule : own) EXPECT_NO_THROW(require_schedule(backend, schedule));
    for (const SolveSchedule schedule : solve_schedules(backend == Backend::cuda ? Backend::host : Backend::cuda)) {
      if (std::ranges::find(own, schedule) != own.end()) continue;
      try {
        require_schedule(backend, schedule);
        ADD_FAILURE() << to_string(schedule) << " on " << to_string(backend);
      } catch (const InvalidInput& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find(to_string(schedule)), std::string::npos) << text;
        for (const SolveSchedule offered : own) EXPECT_NE(text.find(to_string(offered)), std::string::npos) << text;
      }
    }
  }
}

TEST(SolveSchedule, CatalogueSaysWhatEachIs) {
  const auto rows = solve_schedule_catalogue();
  ASSERT_EQ(rows.size(), solve_schedules(Backend::automatic).size());
  for (const SolveScheduleInfo& row : rows) {
    EXPECT_STREQ(row.name, to_string(row.schedule));
    EXPECT_GT(std::string(row.sentence).size(), 10U) << row.name;
    EXPECT_TRUE(row.cuda != ScheduleRole::absent || row.host != ScheduleRole::absent) << row.name;
    const bool rewrites = row.schedule == SolveSchedule::supernodes || row.schedule == SolveSchedule::joined_levels;
    EXPECT_EQ(row.rewrites_rows, rewrites) << row.name;
    EXPECT_EQ(row.needs_blocks, row.schedule == SolveSchedule::blocks) << row.name;
  }
}

TEST(AtaOptions, HaveNames) {
  EXPECT_STREQ(to_string(AtaFlow::pull), "pull");
  EXPECT_STREQ(to_string(AtaFlow::push), "push");
  EXPECT_STREQ(to_string(AtaSize::equations), "equations");
  EXPECT_STREQ(to_string(AtaSize::warps_and_levels), "warps_and_levels");
}

/// Those of each solver are what its sweeps are asked for; without asking they are the paper's.
template <class Options>
void expect_requested(const Context& context) {
  const Study usual = *request_of(Options{}, context).study;
  EXPECT_EQ(usual.flow, AtaFlow::pull);
  EXPECT_EQ(usual.size, AtaSize::equations);
  EXPECT_TRUE(usual.rows_share_warps);
  Options options;
  options.ata_flow = AtaFlow::push;
  EXPECT_EQ(request_of(options, context).study->flow, AtaFlow::push);
  EXPECT_EQ(request_of(options, context).study->size, AtaSize::equations);
  options.ata_size = AtaSize::warps_and_levels;
  EXPECT_EQ(request_of(options, context).study->size, AtaSize::warps_and_levels);
  EXPECT_TRUE(request_of(options, context).study->rows_share_warps);
  options.ata_rows_share_warps = false;
  EXPECT_FALSE(request_of(options, context).study->rows_share_warps);
}

TEST(AtaOptions, OfEverySolverReachItsSweeps) {
  const Context context = Context::create({.backend = Backend::host, .threads = 1});
  expect_requested<TriangularOptions>(context);
  expect_requested<FactorOptions>(context);
  expect_requested<SorOptions>(context);
}

using kernels::ExpectedSchedule;

/// Whether cells of so many microseconds are taken where nothing but flat stands beside them.
bool cells_are_taken(const kernels::TriangleFeatures& features, double microseconds) {
  const ExpectedSchedule flat{SolveSchedule::flat, kernels::flat::microseconds(features, {})};
  return is_better(kernels::expected_of_cells(microseconds), flat);
}

bool supernodes_pay(const ExpectedSchedule& usual, const ExpectedSchedule& left) {
  return is_better(kernels::expected_of_supernodes(left, {}), usual);
}

bool joining_pays(const ExpectedSchedule& usual, const ExpectedSchedule& left) {
  return is_better(kernels::expected_of_joined(left, {}), usual);
}

TEST(Expectation, TheFirstOneIsTaken) { EXPECT_TRUE(kernels::is_better({1e9}, {})); }

TEST(Expectation, CellsAreTakenWhereTheyPromiseAGain) {
  kernels::TriangleFeatures features;
  features.rows = 1000000;
  features.entries = 2000000;
  features.levels = 2000;
  features.longest_row = 2;
  EXPECT_TRUE(cells_are_taken(features, 200.0)) << "many levels";
  const double flat = kernels::flat::microseconds(features, {});
  EXPECT_TRUE(cells_are_taken(features, 0.89 * flat));
  EXPECT_FALSE(cells_are_taken(features, 0.91 * flat)) << "an estimate that errs";
  features.levels = 7;
  EXPECT_FALSE(cells_are_taken(features, 200.0)) << "few levels";
  features.levels = 2;
  features.widest_level = 999000;
  features.longest_row = 6;
  features.entries = 600000;
  EXPECT_FALSE(cells_are_taken(features, 200.0)) << "two levels: operands are computed";
}

TEST(Expectation, BlocksSaveWhereLevelsAreMany) {
  kernels::TriangleFeatures features;
  features.rows = 1000000;
  features.entries = 2000000;
  features.levels = 200;
  const double few = kernels::supersteps::blocks_microseconds(features, 4, {});
  EXPECT_LT(few, kernels::flat::microseconds(features, {}));
  EXPECT_GT(kernels::supersteps::blocks_microseconds(features, 400, {}), kernels::flat::microseconds(features, {}));
}

TEST(Expectation, SupernodesHaveToSaveMoreThanTheirPassCosts) {
  const ExpectedSchedule usual{SolveSchedule::cells, 100.0};
  EXPECT_TRUE(supernodes_pay(usual, {SolveSchedule::cells, 60.0}));
  EXPECT_FALSE(supernodes_pay(usual, {SolveSchedule::cells, 99.0}));
  EXPECT_FALSE(supernodes_pay(usual, {SolveSchedule::flat, 100.0}));
}

TEST(Expectation, JoinedLevelsHaveToSaveMoreThanThat) {
  const ExpectedSchedule usual{SolveSchedule::flat, 100.0};
  EXPECT_TRUE(joining_pays(usual, {SolveSchedule::flat, 60.0}));
  EXPECT_FALSE(joining_pays(usual, {SolveSchedule::cells, 95.0})) << "a load of values takes longer";
  EXPECT_TRUE(supernodes_pay(usual, {SolveSchedule::cells, 95.0}));
  EXPECT_TRUE(joining_pays(usual, {SolveSchedule::cells, 84.0}));
  EXPECT_FALSE(joining_pays(usual, {SolveSchedule::flat, 84.0})) << "an estimate that errs more";
  EXPECT_FALSE(joining_pays(usual, {SolveSchedule::cells, 100.0}));
}

}  // namespace
}  // namespace taskdag
