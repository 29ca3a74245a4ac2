#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "backends/host/thread_pool.hpp"
#include "taskdag/error.hpp"
#include "taskdag/schedule.hpp"

namespace taskdag {
namespace {

// Rows 0 and 1 are independent, 2 waits for 0, 3 waits for 1 and 2.
const std::vector<Offset> kOffsets = {0, 1, 2, 4, 7};
const std::vector<Index> kColumns = {0, 1, 0, 2, 1, 2, 3};
const CsrPattern kPattern{4, 4, kOffsets.data(), kColumns.data()};

TEST(LevelSchedule, IsTheSameForEveryThreadCount) {
  for (const int threads : {1, 2, 3, 8}) {
    const Schedule schedule = make_level_schedule(kPattern, Triangle::lower, threads);
    EXPECT_EQ(schedule.levels(), 3);
    EXPECT_EQ(schedule.widest_level(), 2);
    EXPECT_EQ(std::vector<Index>(schedule.order().begin(), schedule.order().end()), (std::vector<Index>{0, 1, 2, 3}));
    EXPECT_EQ(make_level_schedule(kPattern, Triangle::upper, threads).levels(), 1);
  }
}

TEST(Schedule, RefusesGapsAndNegativeLevels) {
  EXPECT_THROW(Schedule(Triangle::lower, std::vector<Index>{0, 2, 2}), InvalidInput);
  EXPECT_THROW(Schedule(Triangle::lower, std::vector<Index>{0, -1}), InvalidInput);
  EXPECT_EQ(Schedule(Triangle::lower, {}).levels(), 0);
}

TEST(Schedule, RunsTheUpperTriangleBackwardInsideALevel) {
  const Schedule schedule(Triangle::upper, std::vector<Index>{0, 1, 0});
  EXPECT_EQ(std::vector<Index>(schedule.order().begin(), schedule.order().end()), (std::vector<Index>{2, 0, 1}));
  for (Index p = 0; p < 3; ++p) {
    EXPECT_EQ(schedule.position()[static_cast<std::size_t>(schedule.order()[static_cast<std::size_t>(p)])], p);
  }
}

TEST(ThreadPool, CallsEachThreadOncePerRunAndRethrows) {
  host::ThreadPool pool(5);
  std::vector<std::atomic<int>> calls(5);
  for (int run = 0; run < 1000; ++run) pool.run([&](int thread) { ++calls[static_cast<std::size_t>(thread)]; });
  for (const auto& count : calls) EXPECT_EQ(count, 1000);
  EXPECT_THROW(pool.run([](int thread) {
    if (thread == 3) throw std::runtime_error("three");
  }),
               std::runtime_error);
  pool.run([&](int thread) { ++calls[static_cast<std::size_t>(thread)]; });
  EXPECT_EQ(calls[4], 1001);
}

}  // namespace
}  // namespace taskdag
