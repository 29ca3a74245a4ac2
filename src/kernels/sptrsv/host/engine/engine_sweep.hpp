/// \file
/// The schedule "engine" on host threads: triangular sweeps as static programs of the task engine.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/host/seam.hpp"
#include "backends/host/thread_pool.hpp"
#include "base/handover.hpp"
#include "dag/levels.hpp"
#include "kernels/rows/row_tasks.hpp"
#include "kernels/sptrsv/host/columns.hpp"
#include "kernels/sptrsv/host/plan/planned_sweep.hpp"
#include "taskdag/precision.hpp"

namespace taskdag::kernels {

/// A strict triangle in level order. A task is a run of rows of one level; rows hand over values in slots, of which
/// there are two sets: each run of such rows fills one and resets the other one, whatever runs come between.
class HostEngineSweep {
 public:
  /// Parameters as for HostSweep.
  HostEngineSweep(const CsrPattern& pattern, const Offset* source, Triangle triangle, host::ThreadPool& pool,
                  const engine::StaticOptions& options, Precision precision = Precision::in_double);
  HostEngineSweep(HostEngineSweep&&) noexcept;
  HostEngineSweep& operator=(HostEngineSweep&&) noexcept;
  ~HostEngineSweep();

  void load(const double* values);

  [[nodiscard]] Index rows() const { return static_cast<Index>(tasks_.order.size()); }
  [[nodiscard]] Offset entries() const { return offsets_.back(); }
  [[nodiscard]] LevelCount level_count() const { return {tasks_.levels, tasks_.widest_level}; }
  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] RowOrder order() const { return RowOrder(tasks_.order); }
  [[nodiscard]] std::int64_t bytes() const;
  /// Of the runs of this sweep by itself, and of those after another one.
  [[nodiscard]] engine::Report report() const;
  [[nodiscard]] engine::Report report_of_both() const;

  /// As HostSweep::run().
  template <class Value = double, class Rhs, class Pivot, class Emit>
  bool run(double* x, const Rhs& rhs, const Pivot& pivot, const Emit& emit) {
    std::atomic<bool> finite{true};
    using Task = Rows<Value, Rhs, Pivot, Emit>;
    const Task rows{this, x, &rhs, &pivot, &emit, &finite, slots_.sets(), nullptr};
    run_alone({&rows, &Task::run});
    slots_.swap();
    return finite.load(std::memory_order_relaxed);
  }

  /// As HostSweep::run_columns(). Rows wait for the tasks of their operands.
  bool run_columns(double* x, const ColumnPass& pass);

  /// Says that runs of both will come: this sweep after `before`, whose results are its right-hand sides, row by row.
  void follow(const HostEngineSweep& before);
  [[nodiscard]] bool follows(const HostEngineSweep& before) const;

  /// A run of `before` and one of this sweep as one program: rows of this one start as soon as their own row of the
  /// first one has ended; rhs(i) is called after that. Both have `x` as work space.
  /// @pre follows(before). @returns whether all results of this sweep are finite
  template <class Value = double, class FirstRhs, class FirstPivot, class Rhs, class Pivot, class Emit>
  bool run_both(const HostEngineSweep& before, double* x, const FirstRhs& first_rhs, const FirstPivot& first_pivot,
                const Rhs& rhs, const Pivot& pivot, const Emit& emit) {
    std::atomic<bool> first_finite{true};
    std::atomic<bool> finite{true};
    const auto nothing = [](Index, double) {};
    using First = Rows<Value, FirstRhs, FirstPivot, decltype(nothing)>;
    using Second = Rows<Value, Rhs, Pivot, Emit>;
    const First first{&before, x, &first_rhs, &first_pivot, &nothing, &first_finite, pair_first_.sets(), nullptr};
    const Second second{this, x, &rhs, &pivot, &emit, &finite, pair_second_.sets(), pair_first_.sets().filled};
    run_pair(before, {&first, &First::run}, {&second, &Second::run});
    pair_first_.swap();
    pair_second_.swap();
    return finite.load(std::memory_order_relaxed);
  }

 private:
  struct Programs;
  /// What runs positions first, …, last − 1 in run `run`.
  struct Body {
    const void* rows;
    void (*run)(const void* rows, Index first, Index last, std::uint32_t run);
  };
  struct Sets {
    double* filled;  ///< by the next run
    double* reset;   ///< by it, too
  };

  /// A row and its entries.
  struct RowAt {
    Index row;
    Offset begin;
    Offset count;
    const Index* column;
  };
  [[nodiscard]] RowAt row_at(Index position) const {
    const auto p = static_cast<std::size_t>(position);
    return {tasks_.order[p], offsets_[p], offsets_[p + 1] - offsets_[p], columns_.data() + offsets_[p]};
  }

  /// Two sets of slots by row. After each run that has filled one: swap().
  class Slots {
   public:
    Slots() = default;
    explicit Slots(std::size_t rows)
        : set_{std::vector<double>(rows, not_yet()), std::vector<double>(rows, not_yet())} {}
    [[nodiscard]] Sets sets() { return {set_[next_].data(), set_[1 - next_].data()}; }
    void swap() { next_ = 1 - next_; }
    [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(2 * sizeof(double) * set_[0].size()); }

   private:
    std::array<std::vector<double>, 2> set_;
    std::size_t next_ = 0;
  };

  /// Waits until a slot is written. acquire: what its writer wrote before, too.
  static void wait(double* slots, Index i) {
    const std::atomic_ref<double> slot(slots[i]);
    if (is_ready(slot.load(std::memory_order_acquire))) [[likely]]
      return;
    host::Backoff backoff;
    do {
      backoff.turn();
    } while (!is_ready(slot.load(std::memory_order_acquire)));
  }

  /// The rows of a run, for one right-hand side.
  template <class Value, class Rhs, class Pivot, class Emit>
  struct Rows {
    const HostEngineSweep* self;
    double* x;
    const Rhs* rhs;
    const Pivot* pivot;
    const Emit* emit;
    std::atomic<bool>* finite;
    Sets sets;
    double* before;  ///< slots of the sweep whose results are the right-hand side; null: there is none

    static void run(const void* rows, Index first, Index last, std::uint32_t /*run*/) {
      const Rows& r = *static_cast<const Rows*>(rows);
      const HostEngineSweep& s = *r.self;
      const Value* const stored = stored_as<Value>(s.values_.data(), s.singles_.data());
      double* const slots = r.sets.filled;
      bool mine = true;
      for (Index p = first; p < last; ++p) {
        const auto [i, begin, count, column] = s.row_at(p);
        if (r.before != nullptr) wait(r.before, i);
        const double rhs = (*r.rhs)(i);
        for (Offset k = 0; k < count; ++k) wait(slots, column[k]);
        const double sum = subtract_row(rhs, column, stored + begin, count, slots);
        const double result = apply_pivot(*r.pivot, i, p, sum);
        r.x[i] = result;
        mine &= is_finite(result);
        (*r.emit)(i, result);
        r.sets.reset[i] = not_yet();
        // release: x and what emit has written, for rows of a sweep that follows.
        std::atomic_ref<double>(slots[i]).store(publishable(result), std::memory_order_release);
      }
      if (!mine) r.finite->store(false, std::memory_order_relaxed);
    }
  };

  /// The same for several columns: rows of x are handed over with a flag a task.
  template <int Width, class Value>
  struct Columns;

  void run_alone(const Body& body);
  void run_pair(const HostEngineSweep& before, const Body& first, const Body& second);
  void wait_for_task_of(Index row, std::uint32_t run);
  void end_task_of(Index row, std::uint32_t run);

  int threads_;
  RowTasks tasks_;
  std::vector<Offset> offsets_{0};
  std::vector<Index> columns_;  ///< rows, the nearest one last
  std::vector<double> values_;
  std::vector<float> singles_;  ///< instead of values_ where they are stored in single precision; else empty
  std::vector<Offset> source_;
  std::vector<std::uint32_t> ended_;  ///< by task: runs for columns in which it has ended, numbered from 1
  Slots slots_;
  Slots pair_first_;
  Slots pair_second_;
  std::unique_ptr<Programs> programs_;
};

}  // namespace taskdag::kernels
