/// \file
/// IC(0) on host threads.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "backends/host/seam.hpp"
#include "backends/host/thread_pool.hpp"
#include "dag/transpose.hpp"
#include "kernels/factor/host_runner.hpp"
#include "kernels/factor/pivot.hpp"
#include "kernels/factor/state.hpp"

namespace taskdag::kernels {

/// The factor in one CSR array, worked on in place; rows run as the plan of the forward sweep says, or as a program
/// of the task engine (`run`).
class HostIc0 {
 public:
  /// The pattern is an upper triangle, each row starting with its diagonal entry.
  HostIc0(const CsrPattern& pattern, host::ThreadPool& pool, bool diagonal_only = false,
          const std::optional<engine::StaticOptions>& run = {});

  /// Whether the last attempt has changed diagonal entries alone.
  [[nodiscard]] bool only_diagonal_changed() const { return !others_changed_.load(std::memory_order_relaxed); }

  /// The plan of the factorisation and of the forward sweep, which has the same dependencies; null: there is none.
  [[nodiscard]] std::shared_ptr<const ThreadPlan> plan() const { return runner_.plan(); }

  /// The program of the task engine; null where there is none.
  [[nodiscard]] const RowProgram* program() const { return runner_.program(); }

  /// One attempt: entry e of the pattern starts as values[source[e]], or 0 where source[e] is −1; diagonal entries with
  /// `shift` added.
  void factor(const double* values, const Offset* source, const DiagonalShift& shift, const PivotRule& rule,
              Findings& findings);
  /// Turns the published rows of D·U into the unit U, once, after the last attempt.
  void scale();
  /// Pivots D on the diagonal, D·U (after scale(): the unit U) above.
  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  [[nodiscard]] const std::vector<double>& inverse_pivots() const { return inverse_pivots_; }
  [[nodiscard]] double pivot(Index i) const { return values_[static_cast<std::size_t>(pattern_.row_offsets[i])]; }

 private:
  CsrPattern pattern_;  // the caller's, which outlives this
  Transposed above_;    // row k: the rows i <= k that reach column k, and their entries
  std::vector<double> values_;
  std::vector<double> inverse_pivots_;
  HostRunner runner_;
  bool diagonal_only_;
  std::atomic<bool> others_changed_{false};           // by any thread; orders nothing
  std::vector<std::vector<Offset>> entry_of_column_;  // per thread, by column: the entry in the row at work, or -1
};

}  // namespace taskdag::kernels
