/// \file
/// What the host factorisations share: the collected findings of one attempt.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>

#include "kernels/factor/growth.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/status.hpp"

namespace taskdag::kernels {

/// Findings of one attempt. Any thread may note; reset(), growth() and status() belong to the caller between runs.
/// The fields order nothing else, so relaxed.
class Findings {
 public:
  void reset() {
    first_zero_ = kNone;
    first_bad_ = kNone;
    first_wrong_ = kNone;
    last_zero_ = -1;
    shifted_ = 0;
    growth_ = {};
  }
  /// Once for many rows.
  void note(const GrowthBound& rows) {
    const std::lock_guard lock(growth_mutex_);
    growth_.merge(rows);
  }
  void zero_pivot(Index i) {
    lower(first_zero_, i);
    Index seen = last_zero_.load(std::memory_order_relaxed);
    while (seen < i && !last_zero_.compare_exchange_weak(seen, i, std::memory_order_relaxed)) {
    }
  }
  void non_finite(Index i) { lower(first_bad_, i); }
  void not_definite(Index i) { lower(first_wrong_, i); }
  void shifted() { shifted_.fetch_add(1, std::memory_order_relaxed); }

  [[nodiscard]] bool any_zero() const { return last_zero_ >= 0; }
  [[nodiscard]] bool any_not_definite() const { return first_wrong_ != kNone; }

  [[nodiscard]] const GrowthBound& growth() const { return growth_; }

  /// `pivot(row)` is the row's pivot; shifts of the whole diagonal are the caller's to add.
  template <class Pivot>
  [[nodiscard]] FactorStatus status(const Pivot& pivot) const {
    FactorStatus result;
    result.shifts = shifted_;
    const Index zero = first_zero_;
    const Index bad = first_bad_;
    if (any_zero()) {
      result.last_row = last_zero_;
      const double last = pivot(result.last_row);
      result.last_pivot = last < 0 ? -last : last;
    }
    if (any_not_definite()) {
      result.outcome = FactorOutcome::not_definite;
      result.first_row = first_wrong_;
    } else if (bad < zero) {
      result.outcome = FactorOutcome::non_finite;
      result.first_row = bad;
    } else if (any_zero()) {
      result.outcome = FactorOutcome::zero_pivot;
      result.first_row = zero;
    }
    return result;
  }

 private:
  static constexpr Index kNone = std::numeric_limits<Index>::max();
  static void lower(std::atomic<Index>& slot, Index i) {
    Index seen = slot.load(std::memory_order_relaxed);
    while (i < seen && !slot.compare_exchange_weak(seen, i, std::memory_order_relaxed)) {
    }
  }
  std::atomic<Index> first_zero_{kNone};
  std::atomic<Index> first_bad_{kNone};
  std::atomic<Index> first_wrong_{kNone};  // not definite
  std::atomic<Index> last_zero_{-1};
  std::atomic<int> shifted_{0};
  std::mutex growth_mutex_;
  GrowthBound growth_;
};

}  // namespace taskdag::kernels
