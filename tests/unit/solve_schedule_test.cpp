// The names of the schedules, and which backend has which.
#include "taskdag/solve_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "solver/choice/require_schedule.hpp"
#include "solver/choice/selector.hpp"
#include "taskdag/error.hpp"

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

TEST(Selector, ChoosesAScheduleOfCuda) {
  for (const Index levels : {1, 1000, 1000000}) {
    for (const double microseconds : {2.0, 200.0, 2.0e6}) {
      kernels::TriangleFeatures features;
      features.rows = 1000000;
      features.entries = 3000000;
      features.levels = levels;
      features.cells = 132;
      features.cells_microseconds = microseconds;
      const SolveSchedule chosen = choose_schedule(features).schedule;
      EXPECT_NE(chosen, SolveSchedule::automatic);
      EXPECT_NO_THROW(require_schedule(Backend::cuda, chosen));
      EXPECT_EQ(choose_schedule(features).schedule, chosen);
    }
  }
}

TEST(Selector, TakesCellsWhereTheyPromiseAGain) {
  kernels::TriangleFeatures features;
  features.rows = 1000000;
  features.entries = 2000000;
  features.levels = 2000;
  EXPECT_EQ(choose_schedule(features).schedule, SolveSchedule::flat) << "a device that cannot run cells";
  features.cells = 33;
  features.cells_microseconds = 200.0;
  EXPECT_EQ(choose_schedule(features).schedule, SolveSchedule::cells) << "many levels";
  features.longest_row = 1000000;
  EXPECT_EQ(choose_schedule(features).schedule, SolveSchedule::flat) << "a very long row";
  features.longest_row = 2;
  features.levels = 7;
  EXPECT_EQ(choose_schedule(features).schedule, SolveSchedule::flat) << "few levels";
  features.levels = 2;
  features.widest_level = 999000;
  features.longest_row = 6;
  features.entries = 600000;
  EXPECT_EQ(choose_schedule(features).schedule, SolveSchedule::flat) << "two levels: operands are computed";
}

TEST(Selector, SupernodesHaveToSaveMoreThanTheirPassCosts) {
  const ExpectedSchedule usual{SolveSchedule::cells, 100.0};
  EXPECT_TRUE(supernodes_pay(usual, {SolveSchedule::cells, 60.0}));
  EXPECT_FALSE(supernodes_pay(usual, {SolveSchedule::cells, 99.0}));
  EXPECT_FALSE(supernodes_pay(usual, {SolveSchedule::flat, 100.0}));
}

TEST(Selector, JoinedLevelsHaveToSaveMoreThanThat) {
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
