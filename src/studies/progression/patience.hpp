/// \file
/// Waiting that ends: a block's time limit, and what it does between two looks.
#pragma once

#include "taskdag/engine/platform.hpp"

namespace taskdag::progression {

/// Looks at the clock once in some hundred turns, which costs no operation on memory.
class Patience {
 public:
  TASKDAG_TASK explicit Patience(std::uint64_t limit_ns) : end_(engine::clock_ns() + limit_ns) {}
  /// Whether the time is up; once a turn of a loop.
  [[nodiscard]] TASKDAG_TASK bool over() { return ++turns_ % kTurns == 0 && engine::clock_ns() >= end_; }

 private:
  static constexpr std::uint32_t kTurns = 512;
  std::uint64_t end_;
  std::uint32_t turns_ = 0;
};

/// Between two attempts. The paper's blocks try again at once. Host threads give the processor away: there may be fewer
/// of these than threads.
TASKDAG_TASK inline void turn([[maybe_unused]] engine::Backoff& pause, [[maybe_unused]] bool backoff) {
#if defined(__CUDA_ARCH__)
  if (backoff) pause.turn();
#else
  std::this_thread::yield();
#endif
}

}  // namespace taskdag::progression
