/// \file
/// Persistent host threads.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/first_number.hpp"

namespace taskdag::host {

/// Processors that this process may keep busy (its affinity mask, and quotas of control groups), at least 1.
int available_threads();

/// A fixed number of threads, the caller of run() being number 0.
///
/// Encoding: a group's `generation` counts its jobs. The caller writes the job, then increments the generation of each
/// group that takes part (release); a worker that sees the change (acquire) runs the job once and decrements `running_`
/// (release); the caller leaves run() when it reads running_ == 0 (acquire). So what the caller wrote before run() is
/// visible to the workers, and what they wrote is visible to the caller afterwards. Only the caller writes the job and
/// the generations, and of several callers only the one that holds `taking_turns_`.
/// There are two groups: threads beyond processors() are only woken for runs that need them.
/// Workers look for work for one to three milliseconds (Backoff) and then sleep, since waking them takes long.
class ThreadPool {
 public:
  /// threads >= 1. @throws std::system_error if a thread cannot be started
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] int threads() const { return threads_; }
  /// How many of them can run at the same time: threads() or, where that is fewer, the processors that the process had
  /// when the pool was made. Threads that wait for each other gain nothing beyond that.
  [[nodiscard]] int processors() const { return processors_; }
  /// False in a forked child, where the workers do not exist and the calls of run() come in turn.
  [[nodiscard]] bool concurrent() const;

  /// Calls body(t) once for each t in [0, count), on as many threads, and returns when all calls have returned.
  /// 1 <= count <= threads(). The first exception is rethrown. Runs of several callers take turns. Where concurrent()
  /// is false, a call may not count on another one having started. @throws InvalidInput from inside a run of this pool
  template <class Body>
  void run(int count, Body&& body) {
    if (count == 1) {
      body(0);
      return;
    }
    using Target = std::remove_reference_t<Body>;
    Job job{[](void* target, int thread) { (*static_cast<Target*>(target))(thread); },
            const_cast<void*>(static_cast<const void*>(std::addressof(body))), count};
    dispatch(job);
  }
  /// On all threads, however few processors there are.
  template <class Body>
  void run(Body&& body) {
    run(threads_, std::forward<Body>(body));
  }

 private:
  struct Job {
    void (*call)(void*, int);
    void* target;
    int count;
    std::atomic<bool> failed{false};
    std::exception_ptr failure{};  ///< of the call that set `failed`

    void run(int thread) noexcept;
  };
  struct alignas(64) Group {
    std::atomic<std::uint32_t> generation{first_number};
  };

  void dispatch(Job& job);
  void share_out(Job& job);
  void work(int thread, std::uint32_t seen);
  void wake(Group& group);
  void stop() noexcept;
  [[nodiscard]] Group& group_of(int thread) { return groups_[thread < processors_ ? 0 : 1]; }

  int threads_;
  int processors_;
  pid_t owner_;  // the process that has the workers
  std::mutex taking_turns_;
  Job* job_ = nullptr;
  bool stopping_ = false;        // published by the generations, like job_
  std::array<Group, 2> groups_;  // threads that have a processor each, and those beyond
  alignas(64) std::atomic<std::uint32_t> running_{0};
  std::unique_ptr<std::vector<std::thread>> workers_;
};

}  // namespace taskdag::host
