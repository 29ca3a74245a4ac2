/// \file
/// The host's seam for tasks: get work, wait, publish.
///
/// Tasks that depend on nothing in the same run are drawn in chunks from a TicketCounter. Tasks with dependencies are
/// assigned to threads beforehand (dag/thread_plan.hpp); a thread tells its progress by a ProgressCounter. Waiting
/// threads give their processor away after a while, so that runs end however few processors there are.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

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

/// The turns of one waiting loop: pauses first; then it offers its processor to others between pauses. It is time to
/// sleep when others have taken the offer a few times, or else after one to three milliseconds.
///
/// Where every thread has a processor, sleeping sooner is what must not happen: a sleep of 20 µs takes several times
/// that (timer slack, and a virtual processor that has to be started again), as long as dozens of levels, and those who
/// wait for the sleeper fall asleep in turn. Where threads share processors, sleeping is what lets the others work; and
/// a thread that only yields stays on its processor, which may be the one where the thread that it waits for wants to
/// run while another is free: after a sleep the operating system chooses anew.
class Backoff {
 public:
  /// One turn without sleep. @returns false, at once, when it is time to sleep
  bool spin() {
    if (turns_ >= kTurns) return false;
    if (++turns_ <= kPauses) {
      pause();
      return true;
    }
    for (int k = 0; k < kPausesPerYield; ++k) pause();
    const auto before = std::chrono::steady_clock::now();
    std::this_thread::yield();
    if (std::chrono::steady_clock::now() - before > kIdleYield) turns_ += kTurnsPerTakenYield;
    return true;
  }

  /// One turn, a sleep where it is time for that.
  void turn() {
    if (!spin()) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }

 private:
  static constexpr int kTurns = 2000;
  static constexpr int kPauses = 100;
  static constexpr int kPausesPerYield = 32;
  static constexpr int kTurnsPerTakenYield = 700;
  static constexpr std::chrono::microseconds kIdleYield{2};  // one that no thread takes: half of it at most
  int turns_ = 0;
};

/// Get work. Any thread may take(); reset() only between two runs of the pool. The counter orders nothing but itself,
/// so its operations are relaxed.
class TicketCounter {
 public:
  void reset() { next_.store(0, std::memory_order_relaxed); }

  /// Draws the next `chunk` positions of [0, end) into [first, last). @returns false when none remain.
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

/// What one thread has finished, told to the others. publish() by that thread only; reset() only between two runs of
/// the pool. A thread that has waited for a count sees what the thread wrote before it published the count.
class ProgressCounter {
 public:
  void reset() { count_.store(0, std::memory_order_relaxed); }
  void publish(Index count) { count_.store(count, std::memory_order_release); }
  void wait_for(Index count) const {
    if (count_.load(std::memory_order_acquire) >= count) [[likely]]
      return;
    Backoff backoff;
    do {
      backoff.turn();
    } while (count_.load(std::memory_order_acquire) < count);
  }

 private:
  alignas(128) std::atomic<Index> count_{0};  // two lines: processors fetch lines in pairs
};

/// A task run by one thread: the Group of the task bodies.
struct SingleThread {
  [[nodiscard]] static constexpr Offset rank() { return 0; }
  [[nodiscard]] static constexpr Offset size() { return 1; }
  [[nodiscard]] static double sum(double value) { return value; }
};

}  // namespace taskdag::host
