/// \file
/// Runs a thread plan on the pool.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "backends/host/seam.hpp"
#include "backends/host/thread_pool.hpp"
#include "dag/row_order.hpp"
#include "dag/thread_plan.hpp"

namespace taskdag {

/// A plan with the counters that its threads tell each other their progress by.
///
/// Encoding: finished_[t] counts the shares that thread t has finished in this run. It is stored (release) by t after
/// each share and read (acquire) by those who wait, so a thread that has seen the count sees the rows. Only t writes
/// it, except that it is set to 0 between runs. No deadlock: of all unfinished shares one in the lowest level waits for
/// nothing unfinished, and its thread has finished all its earlier shares, since those lie in lower levels.
class PlanExecutor {
 public:
  /// The pool must outlive the executor and have plan->threads() threads at least.
  PlanExecutor(std::shared_ptr<const ThreadPlan> plan, host::ThreadPool& pool)
      : plan_(std::move(plan)), pool_(&pool), finished_(static_cast<std::size_t>(plan_->threads())) {}

  [[nodiscard]] const ThreadPlan& plan() const { return *plan_; }
  [[nodiscard]] RowOrder order() const { return plan_->order(); }
  [[nodiscard]] const std::shared_ptr<const ThreadPlan>& shared_plan() const { return plan_; }

  /// Calls rows(thread, first, last) for ranges of positions that together are all of them, each after what it waits
  /// for. `rows` may not throw.
  template <class Rows>
  void run(const Rows& rows) {
    if (plan_->threads() == 1) {
      rows(0, 0, plan_->rows());
      return;
    }
    for (host::ProgressCounter& counter : finished_) counter.reset();
    if (!pool_->concurrent()) {
      run_serially(rows);
      return;
    }
    pool_->run(plan_->threads(), [&](int thread) {
      Index done = 0;
      for (const ThreadPlan::Share& share : plan_->shares(thread)) {
        for (const ThreadPlan::Wait& wait : plan_->waits(share)) {
          finished_[static_cast<std::size_t>(wait.thread)].wait_for(wait.finished);
        }
        rows(thread, share.first, share.last);
        finished_[static_cast<std::size_t>(thread)].publish(++done);
      }
    });
  }

  /// Calls owned(thread, first, last) with each thread's positions, on that thread where the pool has its threads.
  template <class Owned>
  void for_owned(const Owned& owned) {
    if (plan_->threads() == 1) {
      owned(0, 0, plan_->rows());
      return;
    }
    pool_->run(plan_->threads(),
               [&](int thread) { owned(thread, plan_->first_position(thread), plan_->first_position(thread + 1)); });
  }

 private:
  /// One thread plays all: each in turn goes on until it would have to wait.
  template <class Rows>
  void run_serially(const Rows& rows) {
    const int threads = plan_->threads();
    std::vector<Index> done(static_cast<std::size_t>(threads), 0);
    const auto ready = [&](const ThreadPlan::Share& share) {
      for (const ThreadPlan::Wait& wait : plan_->waits(share)) {
        if (done[static_cast<std::size_t>(wait.thread)] < wait.finished) return false;
      }
      return true;
    };
    for (bool unfinished = true; unfinished;) {
      unfinished = false;
      for (int t = 0; t < threads; ++t) {
        const auto shares = plan_->shares(t);
        Index& mine = done[static_cast<std::size_t>(t)];
        for (; static_cast<std::size_t>(mine) < shares.size(); ++mine) {
          const ThreadPlan::Share& share = shares[static_cast<std::size_t>(mine)];
          if (!ready(share)) break;
          rows(t, share.first, share.last);
        }
        unfinished = unfinished || static_cast<std::size_t>(mine) < shares.size();
      }
    }
  }

  std::shared_ptr<const ThreadPlan> plan_;
  host::ThreadPool* pool_;
  std::vector<host::ProgressCounter> finished_;
};

}  // namespace taskdag
