/// \file
/// Triangular sweeps on host threads by supersteps.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "backends/host/barrier.hpp"
#include "backends/host/thread_pool.hpp"
#include "base/handover.hpp"
#include "dag/levels.hpp"
#include "dag/supersteps/portion_waits.hpp"
#include "dag/supersteps/superstep_schedule.hpp"
#include "kernels/sptrsv/host/plan/planned_sweep.hpp"
#include "taskdag/precision.hpp"

namespace taskdag::kernels {

/// A strict triangle, permuted by a superstep schedule and run by one thread per core of it, with a barrier between
/// supersteps or, where waits are given, with waits of portion for portion and no barrier.
///
/// "Place" is a row's number in storage: thread by thread, and for each thread in the order in which it runs them.
/// Rows, columns and results have that numbering. So a thread streams through memory across its portions, no two
/// threads write the same line, and pages lie near the thread that first writes them. A row's entries are added in the
/// order of HostSweep, so both give the same bits.
///
/// Right-hand side and result are in the user's order. Where a core's rows lie scattered, so that many cores would read
/// and write the same lines of them, they are permuted in passes of their own before and after the portions, each core
/// taking consecutive rows: what moves between cores is then whole lines.
///
/// No deadlock: a portion in the earliest superstep that is not finished waits for nothing unfinished.
class SuperstepSweep {
 public:
  /// Copies the strict `triangle` of a square pattern. `source`: as for HostSweep. `schedule`: valid, of this triangle,
  /// with no more cores than the pool has threads. `waits`: of this schedule. The pool must outlive the sweep.
  /// `precision`: as for HostSweep.
  SuperstepSweep(const CsrPattern& pattern, const Offset* source, Triangle triangle, host::ThreadPool& pool,
                 const SuperstepSchedule& schedule, std::optional<PortionWaits> waits = std::nullopt,
                 Precision precision = Precision::in_double);

  void load(const double* values);

  [[nodiscard]] Index rows() const { return static_cast<Index>(row_.size()); }
  [[nodiscard]] Offset entries() const { return offsets_.back(); }
  [[nodiscard]] LevelCount level_count() const { return levels_; }
  [[nodiscard]] int threads() const { return cores_; }
  [[nodiscard]] Index supersteps() const { return supersteps_; }
  /// Whether vectors are permuted by passes of their own.
  [[nodiscard]] bool permutes() const { return !place_.empty(); }
  /// The row at each place.
  [[nodiscard]] RowOrder order() const { return RowOrder(row_); }
  [[nodiscard]] std::int64_t bytes() const;

  /// As HostSweep::run(), with places for positions.
  template <class Value = double, class Rhs, class Pivot, class Emit>
  bool run(double* x, const Rhs& rhs, const Pivot& pivot, const Emit& emit) {
    const Value* const values = stored_as<Value>(values_.get(), singles_.get());
    if (!permutes()) {
      return run_portions([&](Index first, Index last) {
        return follow_ ? run_places<RowBefore>(values, first, last, x, rhs, pivot, emit)
                       : run_places<NoRowBefore>(values, first, last, x, rhs, pivot, emit);
      });
    }
    return run_portions(
        [&](Index first, Index last) {
          return follow_ ? run_permuted_places<RowBefore>(values, first, last, pivot)
                         : run_permuted_places<NoRowBefore>(values, first, last, pivot);
        },
        [&](Index i) { permuted_rhs_[place_of(i)] = rhs(i); },
        [&](Index i) {
          const double value = result_[place_of(i)];
          x[i] = value;
          emit(i, value);
        });
  }

  /// As HostSweep::run_columns(), with places for positions.
  bool run_columns(double* x, const ColumnPass& pass);

 private:
  /// Takes the rows of all portions, core by core, and where their entries begin. @returns the place of each row
  std::vector<Index> take_order(const CsrPattern& pattern, Triangle triangle, const SuperstepSchedule& schedule);
  /// Takes memory and writes none of it: each thread is the first to write what it owns.
  void reserve_entries(Precision precision, bool permutes);
  void copy_entries(const CsrPattern& pattern, const Offset* source, Triangle triangle,
                    const std::vector<Index>& place);

  [[nodiscard]] std::size_t stored_portion(Index superstep, int core) const {
    return static_cast<std::size_t>(core) * static_cast<std::size_t>(supersteps_) + static_cast<std::size_t>(superstep);
  }

  [[nodiscard]] std::size_t place_of(Index row) const {
    return static_cast<std::size_t>(place_[static_cast<std::size_t>(row)]);
  }

  struct NoPass {};

  /// Calls places(first, last) for the places of each portion, when what it waits for has run; before(row) for every
  /// row before the first portion, after(row) after the last one. @returns whether all calls of places returned true
  template <class Places, class Before = NoPass, class After = NoPass>
  bool run_portions(const Places& places, const Before& before = {}, const After& after = {}) {
    constexpr bool permutes = !std::is_same_v<Before, NoPass>;
    std::atomic<bool> finite{true};
    const auto portion = [&](Index superstep, int core) {
      const std::size_t k = stored_portion(superstep, core);
      if (!places(portions_[k], portions_[k + 1])) finite.store(false, std::memory_order_relaxed);
    };
    const auto each_row = [&](int first_core, int last_core, const auto& action) {
      for (Index i = first_row(first_core); i < first_row(last_core); ++i) action(i);
    };
    if (cores_ == 1 || !pool_->concurrent()) {
      if constexpr (permutes) each_row(0, cores_, before);
      for (Index s = 0; s < supersteps_; ++s) {
        for (int c = 0; c < cores_; ++c) portion(s, c);
      }
      if constexpr (permutes) each_row(0, cores_, after);
      return finite.load(std::memory_order_relaxed);
    }
    barrier_.reset();
    for (host::ProgressCounter& counter : finished_) counter.reset();
    pool_->run(cores_, [&](int thread) {
      Index rounds = 0;
      if constexpr (permutes) {
        each_row(thread, thread + 1, before);
        barrier_.wait(thread, rounds);
      }
      if (waits_) {
        run_with_waits(thread, portion);
      } else {
        run_with_barriers(thread, rounds, portion);
      }
      if constexpr (permutes) {
        barrier_.wait(thread, rounds);
        each_row(thread, thread + 1, after);
      }
    });
    return finite.load(std::memory_order_relaxed);
  }

  /// The first row of a core's share, where all rows are shared out evenly.
  [[nodiscard]] Index first_row(int core) const {
    return static_cast<Index>(static_cast<std::int64_t>(rows()) * core / cores_);
  }

  template <class Portion>
  void run_with_barriers(int thread, Index& rounds, const Portion& portion) {
    for (Index s = 0; s < supersteps_; ++s) {
      if (s > 0) barrier_.wait(thread, rounds);
      portion(s, thread);
    }
  }

  template <class Portion>
  void run_with_waits(int thread, const Portion& portion) {
    const auto own = static_cast<std::size_t>(thread);
    for (Index s = 0; s < supersteps_; ++s) {
      if (portions_[stored_portion(s, thread)] == portions_[stored_portion(s, thread) + 1]) continue;
      for (const PortionWait& wait : waits_->of(static_cast<std::size_t>(s) * static_cast<std::size_t>(cores_) + own)) {
        finished_[static_cast<std::size_t>(wait.core)].wait_for(wait.superstep + 1);
      }
      portion(s, thread);
      finished_[own].publish(s + 1);
    }
  }

  template <int Width, class Value>
  bool run_column_places(const Value* stored, Index first, Index last, double* x, const ColumnPass& pass);

  template <class Before, class Value, class Pivot>
  bool run_permuted_places(const Value* values, Index first, Index last, const Pivot& pivot) {
    const Offset* const offsets = offsets_.data();
    double* const result = result_.get();
    Before before;  // by place
    bool finite = true;
    for (Index p = first; p < last; ++p) {
      const double difference = subtract_row(permuted_rhs_[static_cast<std::size_t>(p)], columns_.get() + offsets[p],
                                             values + offsets[p], offsets[p + 1] - offsets[p], result, before);
      const double value = apply_pivot(pivot, row_[static_cast<std::size_t>(p)], p, difference);
      result[p] = value;
      before.take(p, value);
      finite &= is_finite(value);
    }
    return finite;
  }

  template <class Before, class Value, class Rhs, class Pivot, class Emit>
  bool run_places(const Value* values, Index first, Index last, double* x, const Rhs& rhs, const Pivot& pivot,
                  const Emit& emit) {
    const Index* const row = row_.data();
    const Offset* const offsets = offsets_.data();
    const Index* const columns = columns_.get();
    double* const result = result_.get();
    Before before;  // by place
    bool finite = true;
    for (Index p = first; p < last; ++p) {
      const Index i = row[p];
      const double difference =
          subtract_row(rhs(i), columns + offsets[p], values + offsets[p], offsets[p + 1] - offsets[p], result, before);
      const double value = apply_pivot(pivot, i, p, difference);
      result[p] = value;
      before.take(p, value);
      x[i] = value;
      finite &= is_finite(value);
      emit(i, value);
    }
    return finite;
  }

  /// Calls owned(first, last) with each thread's places, on that thread.
  template <class Owned>
  void for_owned(const Owned& owned) {
    pool_->run(cores_, [&](int thread) {
      owned(portions_[stored_portion(0, thread)], portions_[stored_portion(0, thread + 1)]);
    });
  }

  host::ThreadPool* pool_;
  int cores_;
  Index supersteps_;
  LevelCount levels_;
  std::optional<PortionWaits> waits_;
  host::Barrier barrier_;
  std::vector<host::ProgressCounter> finished_;  // by core: supersteps, where there are waits
  std::vector<Index> portions_;       // core by core: the place where each superstep's portion begins; the end
  std::vector<Index> row_;            // by place
  bool follow_ = false;               // most rows need the one before them
  std::vector<Offset> offsets_;       // by place
  std::unique_ptr<Index[]> columns_;  // places; the nearest row last
  std::unique_ptr<double[]> values_;
  std::unique_ptr<float[]> singles_;  // instead of values_ where they are stored in single precision; else null
  std::unique_ptr<Offset[]> source_;
  std::unique_ptr<double[]> result_;        // by place
  std::vector<Index> place_;                // by row, where vectors are permuted; else empty
  std::unique_ptr<double[]> permuted_rhs_;  // by place, where vectors are permuted
  std::vector<double> columns_result_;      // by place, from the first run of several columns on
};

}  // namespace taskdag::kernels
