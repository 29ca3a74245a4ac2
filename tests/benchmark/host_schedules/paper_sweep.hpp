/// \file
/// Solves by supersteps as Böhnlein et al. 2025 measure them: for their table 7.4, which has them with and without the
/// reordering. The library's SuperstepSweep always stores rows as its threads run them, and takes vectors in the user's
/// order; this one does either all in one order, or all in the other.
#pragma once

#include <memory>
#include <vector>

#include "backends/host/barrier.hpp"
#include "backends/host/thread_pool.hpp"
#include "dag/supersteps/superstep_schedule.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::benchmark {

/// Where rows, entries and both vectors lie: as the user has them, or by superstep, core and row (section 5).
enum class PaperOrder { users, scheduled };

/// A lower triangle with unit diagonal. A row's entries are added as by SuperstepSweep: the same bits.
class PaperSweep {
 public:
  /// `a`: the diagonal entry is the last one of each row. The schedule is copied; the pool must outlive the sweep and
  /// have a thread for each core.
  PaperSweep(const CsrMatrix& a, const SuperstepSchedule& schedule, PaperOrder order, host::ThreadPool& pool);

  /// Solves for x. Both vectors are in the order of the sweep.
  void run(const double* b, double* x);

  /// The vector in the order of the sweep.
  [[nodiscard]] std::vector<double> arranged(const std::vector<double>& users) const;

 private:
  /// Where the row at a position lies.
  [[nodiscard]] std::size_t place_at(Index position) const {
    return static_cast<std::size_t>(order_ == PaperOrder::users ? schedule_.order[static_cast<std::size_t>(position)]
                                                                : position);
  }

  SuperstepSchedule schedule_;
  PaperOrder order_;
  host::ThreadPool* pool_;
  host::Barrier barrier_;
  std::vector<Offset> offsets_;       // by place
  std::unique_ptr<Index[]> columns_;  // places
  std::unique_ptr<double[]> values_;
  std::unique_ptr<double[]> inverse_;  // of the diagonal, by place
};

}  // namespace taskdag::benchmark
