/// \file
/// ILU(0) on host threads.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "backends/host/seam.hpp"
#include "backends/host/thread_pool.hpp"
#include "dag/split.hpp"
#include "kernels/factor/host.hpp"
#include "kernels/factor/host_executor.hpp"
#include "kernels/factor/pivot.hpp"
#include "kernels/factor/state.hpp"

namespace taskdag::kernels {

/// The factor is worked on in the arrays in which the sweeps read it; rows run as the plan of the forward sweep says,
/// or as a program of the task engine (`run`).
class HostIlu0 {
 public:
  HostIlu0(SplitPattern pattern, host::ThreadPool& pool, bool diagonal_only = false,
           const std::optional<engine::StaticOptions>& run = {});

  [[nodiscard]] const SplitPattern& pattern() const { return pattern_; }

  /// Whether the last attempt has changed diagonal entries alone.
  [[nodiscard]] bool only_diagonal_changed() const { return !others_changed_.load(std::memory_order_relaxed); }

  /// The plan of the factorisation and of the forward sweep, which has the same dependencies; null: there is none.
  [[nodiscard]] std::shared_ptr<const ThreadPlan> plan() const { return executor_.plan(); }

  /// The program of the task engine; null where there is none.
  [[nodiscard]] const RowProgram* program() const { return executor_.program(); }

  /// One attempt: entries start with values[source], fill with 0, diagonal entries with `shift` added.
  void factor(const double* values, const ValueSource& source, const DiagonalShift& shift, const PivotRule& rule,
              Findings& findings);

  /// L strictly below, pivots on, U above the diagonal, by position; without meaning before factor(), as all values
  /// here.
  [[nodiscard]] const double* values() const { return values_.get(); }
  [[nodiscard]] const double* lower_values() const { return values_.get(); }
  [[nodiscard]] const double* upper_values() const { return values_.get() + pattern_.lower_entries(); }
  [[nodiscard]] const double* pivots() const { return upper_values() + pattern_.upper_entries(); }
  [[nodiscard]] const double* inverse_pivots() const { return inverse_pivots_.get(); }
  [[nodiscard]] std::int64_t bytes() const;

 private:
  SplitPattern pattern_;
  std::unique_ptr<double[]> values_;
  std::unique_ptr<double[]> inverse_pivots_;
  HostExecutor executor_;
  bool diagonal_only_;
  std::atomic<bool> others_changed_{false};  // by any thread; orders nothing
  std::vector<ColumnMarks> marks_;           // per thread
};

}  // namespace taskdag::kernels
