/// \file
/// Persistent host threads.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/first_number.hpp"

namespace taskdag::host {

/// Processors that this process may run on (its affinity mask), at least 1.
int available_threads();

/// A fixed number of threads, the caller of run() being number 0.
///
/// Encoding: `generation_` counts the jobs. The caller writes the job, then increments generation_ (release); a worker
/// that sees the change (acquire) runs the job once and decrements `running_` (release); the caller leaves run() when
/// it reads running_ == 0 (acquire). So what the caller wrote before run() is visible to the workers, and what they
/// wrote is visible to the caller afterwards. Only the caller writes the job and generation_.
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

  /// Calls body(t) once for each t in [0, threads()), on as many threads, and returns when all calls have returned.
  /// The first exception is rethrown. One run at a time. Where concurrent() is false, a call may not count on another
  /// one having started.
  template <class Body>
  void run(Body&& body) {
    if (threads_ == 1) {
      body(0);
      return;
    }
    using Target = std::remove_reference_t<Body>;
    dispatch({[](void* target, int thread) { (*static_cast<Target*>(target))(thread); },
              const_cast<void*>(static_cast<const void*>(std::addressof(body)))});
  }

 private:
  struct Job {
    void (*call)(void*, int) = nullptr;
    void* target = nullptr;
  };

  void dispatch(Job job);
  void work(int thread, std::uint32_t seen);
  void run_job(int thread) noexcept;
  void stop() noexcept;

  int threads_;
  int processors_;
  pid_t owner_;  // the process that has the workers
  Job job_;
  bool stopping_ = false;  // published by generation_, like job_
  std::exception_ptr failure_;
  std::atomic<bool> failed_{false};
  alignas(64) std::atomic<std::uint32_t> generation_{first_number};
  alignas(64) std::atomic<std::uint32_t> running_{0};
  std::unique_ptr<std::vector<std::thread>> workers_;
};

}  // namespace taskdag::host
