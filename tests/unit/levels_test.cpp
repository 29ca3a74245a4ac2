#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
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

TEST(ThreadPool, RunsOfSomeThreadsCallThoseAlone) {
  host::ThreadPool pool(5);
  for (int count = 1; count <= 5; ++count) {
    std::vector<int> calls(5);  // plain: a race detector sees what is missed
    for (int run = 0; run < 200; ++run) {
      pool.run(count, [&](int thread) { ++calls[static_cast<std::size_t>(thread)]; });
    }
    for (int thread = 0; thread < 5; ++thread) {
      EXPECT_EQ(calls[static_cast<std::size_t>(thread)], thread < count ? 200 : 0) << count << ", " << thread;
    }
  }
}

/// A thread of the application: `runs` jobs of its own on the pool, each seen as a whole.
void run_jobs(host::ThreadPool& pool, int count, int runs, std::vector<int>& calls) {
  for (int run = 0; run < runs; ++run) {
    const std::vector<int> before = calls;
    pool.run(count, [&](int thread) { ++calls[static_cast<std::size_t>(thread)]; });
    for (int thread = 0; thread < count; ++thread) {
      ASSERT_EQ(calls[static_cast<std::size_t>(thread)], before[static_cast<std::size_t>(thread)] + 1);
    }
  }
}

TEST(ThreadPool, TwoThreadsOfTheApplicationTakeTurns) {
  alarm(100);  // what hangs is killed
  host::ThreadPool pool(4);
  std::vector<int> mine(4);
  std::vector<int> others(4);
  std::thread other([&] { run_jobs(pool, 2, 2000, others); });
  run_jobs(pool, 4, 2000, mine);
  other.join();
  EXPECT_EQ(mine, (std::vector<int>{2000, 2000, 2000, 2000}));
  EXPECT_EQ(others, (std::vector<int>{2000, 2000, 0, 0}));
  alarm(0);
}

TEST(ThreadPool, TwoThreadsOfTheApplicationHaveTheirOwnExceptions) {
  alarm(100);
  host::ThreadPool pool(3);
  const auto fail = [&](int which) {
    for (int run = 0; run < 300; ++run) {
      try {
        pool.run([&](int thread) {
          if (thread == which) throw std::runtime_error(std::to_string(which));
        });
        ADD_FAILURE() << "no exception";
      } catch (const std::runtime_error& caught) {
        EXPECT_EQ(caught.what(), std::to_string(which));
      }
    }
  };
  std::thread other([&] { fail(2); });
  fail(1);
  other.join();
  alarm(0);
}

TEST(ThreadPool, ARunInsideARunIsRefused) {
  alarm(100);
  host::ThreadPool pool(3);
  host::ThreadPool another(2);
  std::atomic<int> refused{0};
  std::atomic<int> calls{0};
  pool.run([&](int) {
    try {
      pool.run([](int) {});
    } catch (const InvalidInput&) {
      ++refused;
    }
    another.run([&](int) { ++calls; });
  });
  EXPECT_EQ(refused, 3);
  EXPECT_EQ(calls, 6);
  pool.run([&](int) { ++calls; });
  EXPECT_EQ(calls, 9);
  alarm(0);
}

}  // namespace
}  // namespace taskdag
