// The barrier of host threads.
#include "backends/host/barrier.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "backends/host/thread_pool.hpp"

namespace taskdag::host {
namespace {

TEST(Barrier, ShowsEveryThreadWhatAllWroteBefore) {
  for (const int threads : {1, 2, 3, 5, 8}) {
    ThreadPool pool(threads);
    Barrier barrier(threads);
    for (int run = 0; run < 3; ++run) {
      barrier.reset();
      std::vector<int> written(static_cast<std::size_t>(threads), -1);  // plain: a race detector sees what is missed
      std::vector<int> wrong(static_cast<std::size_t>(threads), 0);
      pool.run([&](int thread) {
        Index rounds = 0;
        for (int turn = 0; turn < 50; ++turn) {
          written[static_cast<std::size_t>(thread)] = turn;
          barrier.wait(thread, rounds);
          for (const int value : written) wrong[static_cast<std::size_t>(thread)] += value != turn;
          barrier.wait(thread, rounds);
        }
      });
      for (const int count : wrong) EXPECT_EQ(count, 0);
    }
  }
}

}  // namespace
}  // namespace taskdag::host
