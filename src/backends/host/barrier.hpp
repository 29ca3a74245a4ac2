/// \file
/// A barrier for host threads.
#pragma once

#include <vector>

#include "backends/host/seam.hpp"

namespace taskdag::host {

/// Dissemination barrier: in round r of ⌈log2 threads⌉, each thread waits for the one 2^r before it to reach that
/// round. So no thread writes what another thread writes, and a thread that waits gives its processor away after a
/// while.
///
/// Encoding: reached_[t] counts the rounds of all barriers that thread t has begun since reset(). A thread that
/// leaves a barrier sees what every thread wrote before it came. Source: Hensgen, Finkel & Manber 1988.
class Barrier {
 public:
  explicit Barrier(int threads) : reached_(static_cast<std::size_t>(threads)) {}

  /// Between two runs of the pool only.
  void reset() {
    for (ProgressCounter& counter : reached_) counter.reset();
  }

  /// `rounds`: rounds that this thread has begun since reset(), kept by the caller, 0 at first.
  void wait(int thread, Index& rounds) {
    const int threads = static_cast<int>(reached_.size());
    for (int distance = 1; distance < threads; distance *= 2) {
      reached_[static_cast<std::size_t>(thread)].publish(++rounds);
      const int other = thread >= distance ? thread - distance : thread - distance + threads;
      reached_[static_cast<std::size_t>(other)].wait_for(rounds);
    }
  }

 private:
  std::vector<ProgressCounter> reached_;
};

}  // namespace taskdag::host
