/// \file
/// The host's seam for tasks: get work, wait, publish.
///
/// Work is a range of positions 0 … n−1 in an order where each task waits for smaller positions only. Threads draw
/// ascending chunks from a TicketCounter and run a chunk in order. No deadlock: of all drawn and unfinished positions
/// the smallest waits only for finished ones, and its thread is running it, since it runs its chunk in order; so
/// something always advances, however few processors there are (waiting threads yield).
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/handover.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::host {

/// Tells the processor that this is a waiting loop.
inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// One turn of a waiting loop: pauses first, gives the processor away later, so that oversubscribed threads end.
class Backoff {
 public:
  void turn() {
    if (++turns_ < kPauses) {
      pause();
    } else {
      std::this_thread::yield();
    }
  }

 private:
  static constexpr int kPauses = 4000;
  int turns_ = 0;
};

/// Get work. Any thread may take(); reset() only between two runs of the pool. The counter orders nothing but itself,
/// so its operations are relaxed.
class TicketCounter {
 public:
  void reset() { next_.store(0, std::memory_order_relaxed); }

  /// Draws the next `chunk` positions of [0, end) into [first, last). @returns false when none are left.
  bool take(Index end, Index chunk, Index& first, Index& last) {
    const std::int64_t drawn = next_.fetch_add(chunk, std::memory_order_relaxed);
    if (drawn >= end) return false;
    first = static_cast<Index>(drawn);
    last = static_cast<Index>(std::min<std::int64_t>(drawn + chunk, end));
    return true;
  }

 private:
  alignas(64) std::atomic<std::int64_t> next_{0};
};

static_assert(std::atomic_ref<double>::is_always_lock_free);

/// Publish a value: the only write to `slot` in a run. Relaxed, since a consumer uses the value itself and reads
/// nothing else on the strength of it (base/handover.hpp).
inline void publish_value(double& slot, double value) {
  std::atomic_ref<double>(slot).store(publishable(value), std::memory_order_relaxed);
}

/// Waits for publish_value() on `slot` and returns the value.
inline double wait_value(double& slot) {
  const std::atomic_ref<double> shared(slot);
  double value = shared.load(std::memory_order_relaxed);
  if (is_ready(value)) [[likely]]
    return value;
  Backoff backoff;
  do {
    backoff.turn();
    value = shared.load(std::memory_order_relaxed);
  } while (!is_ready(value));
  return value;
}

/// Publishes a value that stands for more than itself: release, so that whoever sees it also sees what this thread
/// wrote before (a factor row before its pivot).
inline void publish_row(double& slot, double value) {
  std::atomic_ref<double>(slot).store(publishable(value), std::memory_order_release);
}

/// Waits for publish_row() on `slot`; acquire, see there.
inline void wait_row(double& slot) {
  const std::atomic_ref<double> shared(slot);
  Backoff backoff;
  while (!is_ready(shared.load(std::memory_order_acquire))) backoff.turn();
}

/// A task run by one thread: the Group of the task bodies.
struct SingleThread {
  [[nodiscard]] static constexpr Offset rank() { return 0; }
  [[nodiscard]] static constexpr Offset size() { return 1; }
  static void sync() {}
  [[nodiscard]] static double sum(double value) { return value; }
};

}  // namespace taskdag::host
