/// \file
/// ILU(0) on host threads.
#pragma once

#include <vector>

#include "backends/host/seam.hpp"
#include "backends/host/thread_pool.hpp"
#include "dag/transpose.hpp"
#include "kernels/factor_state.hpp"
#include "kernels/pivot.hpp"

namespace taskdag::kernels {

/// The factor in one CSR array, rows run in the order of their level.
/// A row is published by its inverse pivot; until then the inverse pivot's slot holds not_yet() and the row's entries
/// belong to the thread that drew the row.
class HostIlu0 {
 public:
  /// Every row of the square pattern has a diagonal entry.
  HostIlu0(const CsrPattern& pattern, host::ThreadPool& pool);

  /// One attempt: entry e of the pattern starts as values[source[e]], diagonal entries with `shift` added.
  void factor(const double* values, const Offset* source, double shift, const PivotRule& rule, Findings& findings);

  /// L strictly below, pivots on, U above the diagonal.
  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  [[nodiscard]] const std::vector<double>& inverse_pivots() const { return inverse_pivots_; }
  [[nodiscard]] double pivot(Index i) const {
    return values_[static_cast<std::size_t>(diagonal_[static_cast<std::size_t>(i)])];
  }

 private:
  host::ThreadPool* pool_;
  CsrPattern pattern_;  // the caller's, which outlives this
  std::vector<Offset> diagonal_;
  std::vector<Index> order_;
  std::vector<double> values_;
  std::vector<double> inverse_pivots_;
  std::vector<std::vector<Offset>> entry_of_column_;  // per thread, by column: the entry in the row at work, or -1
  host::TicketCounter tickets_;
};

}  // namespace taskdag::kernels
