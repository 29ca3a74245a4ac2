#include "backends/host/thread_pool.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "backends/host/processors.hpp"
#include "backends/host/seam.hpp"
#include "taskdag/error.hpp"

namespace taskdag::host {

namespace {

/// Returns once `value` differs from `old`; sees everything that was written before the change.
void wait_for_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  Backoff backoff;
  while (value.load(std::memory_order_acquire) == old) {
    if (!backoff.spin()) value.wait(old, std::memory_order_acquire);
  }
}

/// The pool whose job this thread runs; a run that waited for its turn there would wait for itself.
thread_local const ThreadPool* inside = nullptr;

class Inside {
 public:
  explicit Inside(const ThreadPool* pool) : before_(std::exchange(inside, pool)) {}
  ~Inside() { inside = before_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  const ThreadPool* before_;
};

}  // namespace

int available_threads() { return processors_of(claim_processors()); }

ThreadPool::ThreadPool(int threads)
    : threads_(threads),
      processors_(threads == 1 ? 1 : std::min(threads, available_threads())),
      owner_(getpid()),
      workers_(std::make_unique<std::vector<std::thread>>()) {
  try {
    workers_->reserve(static_cast<std::size_t>(threads_ - 1));
    const std::uint32_t none = groups_[0].generation;
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
  for (Group& group : groups_) wake(group);
  for (std::thread& worker : *workers_) worker.join();
}

void ThreadPool::wake(Group& group) {
  group.generation.fetch_add(1, std::memory_order_release);
  group.generation.notify_all();
}

void ThreadPool::Job::run(int thread) noexcept {
  try {
    call(target, thread);
  } catch (...) {
    if (!failed.exchange(true, std::memory_order_relaxed)) failure = std::current_exception();
  }
}

void ThreadPool::dispatch(Job& job) {
  if (!concurrent()) {
    for (int t = 0; t < job.count; ++t) job.run(t);
  } else if (inside == this) {
    throw InvalidInput("what runs on the threads of a context cannot wait for other work on them");
  } else {
    const std::lock_guard turn(taking_turns_);
    share_out(job);
  }
  if (job.failure) std::rethrow_exception(job.failure);
}

void ThreadPool::share_out(Job& job) {
  const bool all = job.count > processors_;
  job_ = &job;
  running_.store(static_cast<std::uint32_t>((all ? threads_ : processors_) - 1), std::memory_order_relaxed);
  wake(groups_[0]);
  if (all) wake(groups_[1]);
  {
    const Inside here(this);
    job.run(0);
  }
  for (std::uint32_t remaining = running_.load(std::memory_order_acquire); remaining != 0;
       remaining = running_.load(std::memory_order_acquire)) {
    wait_for_change(running_, remaining);
  }
}

void ThreadPool::work(int thread, std::uint32_t seen) {
  const Inside here(this);
  const std::atomic<std::uint32_t>& generation = group_of(thread).generation;
  while (true) {
    wait_for_change(generation, seen);
    seen = generation.load(std::memory_order_acquire);
    if (stopping_) return;
    if (thread < job_->count) job_->run(thread);
    if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) running_.notify_all();
  }
}

}  // namespace taskdag::host
