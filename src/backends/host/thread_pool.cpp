#include "backends/host/thread_pool.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "backends/host/seam.hpp"

namespace taskdag::host {

namespace {

/// Returns once `value` differs from `old`; sees everything that was written before the change.
void wait_for_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  Backoff backoff;
  while (value.load(std::memory_order_acquire) == old) {
    if (!backoff.spin()) value.wait(old, std::memory_order_acquire);
  }
}

}  // namespace

int available_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  const unsigned count = std::thread::hardware_concurrency();  // more processors than cpu_set_t can name
  return count == 0 ? 1 : static_cast<int>(count);
}

ThreadPool::ThreadPool(int threads)
    : threads_(threads),
      processors_(std::min(threads, available_threads())),
      owner_(getpid()),
      workers_(std::make_unique<std::vector<std::thread>>()) {
  try {
    workers_->reserve(static_cast<std::size_t>(threads_ - 1));
    const std::uint32_t none = generation_;
    for (int t = 1; t < threads_; ++t) workers_->emplace_back([this, t, none] { work(t, none); });
  } catch (...) {
    stop();
    throw;
  }
}

ThreadPool::~ThreadPool() { stop(); }

bool ThreadPool::concurrent() const { return getpid() == owner_; }

void ThreadPool::stop() noexcept {
  if (getpid() != owner_) {
    // A forked child has the handles but not the threads: joining would wait for ever, destroying would terminate.
    static_cast<void>(workers_.release());
    return;
  }
  stopping_ = true;
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& worker : *workers_) worker.join();
}

void ThreadPool::run_job(int thread) noexcept {
  try {
    job_.call(job_.target, thread);
  } catch (...) {
    if (!failed_.exchange(true, std::memory_order_relaxed)) failure_ = std::current_exception();
  }
}

void ThreadPool::dispatch(Job job) {
  job_ = job;
  if (!concurrent()) {
    for (int t = 0; t < threads_; ++t) run_job(t);
  } else {
    running_.store(static_cast<std::uint32_t>(threads_ - 1), std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_release);
    generation_.notify_all();
    run_job(0);
    for (std::uint32_t left = running_.load(std::memory_order_acquire); left != 0;
         left = running_.load(std::memory_order_acquire)) {
      wait_for_change(running_, left);
    }
  }
  if (failed_.exchange(false, std::memory_order_relaxed)) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadPool::work(int thread, std::uint32_t seen) {
  while (true) {
    wait_for_change(generation_, seen);
    seen = generation_.load(std::memory_order_acquire);
    if (stopping_) return;
    run_job(thread);
    if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) running_.notify_all();
  }
}

}  // namespace taskdag::host
