/// \file
/// Triangular sweeps on host threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#include "backends/host/thread_pool.hpp"
#include "base/handover.hpp"
#include "dag/levels.hpp"
#include "dag/plan_executor.hpp"
#include "kernels/sptrsv/host/columns.hpp"
#include "kernels/sptrsv/host/row_before.hpp"
#include "taskdag/precision.hpp"

namespace taskdag::kernels {

/// difference − Σ value_k x[column_k]. The last entry, the nearest row, is subtracted last, so that in natural order
/// only one product and one subtraction wait for the row before. Long rows use four sums, whose latencies overlap; the
/// order of the operations depends on the row's length alone. `Step`: from an entry to the next, 1 or −1. `Before`:
/// RowBefore or NoRowBefore.
template <int Step = 1, class Value, class Before = NoRowBefore>
[[gnu::always_inline]] inline double subtract_row(double difference, const Index* column, const Value* value,
                                                  Offset count, const double* x, const Before& before = {}) {
  constexpr std::ptrdiff_t step = Step;
  if (count > 8) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    do {
      for (int k = 0; k < 4; ++k) sums[k] += double{value[k * step]} * x[column[k * step]];
      value += 4 * step;
      column += 4 * step;
      count -= 4;
    } while (count > 4);
    difference -= (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
  for (; count > 1; --count, value += Step, column += Step) difference -= double{*value} * x[*column];
  if (count == 0) return difference;
  if constexpr (Before::kKnown) {
    if (*column == before.row) return difference - double{*value} * before.result;
  }
  return difference - double{*value} * x[*column];
}

/// pivot(row, position, value), or pivot(row, value) where it takes no position.
template <class Pivot>
double apply_pivot(const Pivot& pivot, Index row, Index position, double value) {
  if constexpr (std::is_invocable_v<const Pivot&, Index, Index, double>) {
    return pivot(row, position, value);
  } else {
    return pivot(row, value);
  }
}

/// The array in which a sweep stores values, of two: in single precision floats, which is what Value says.
template <class Value>
const Value* stored_as([[maybe_unused]] const double* values, [[maybe_unused]] const float* singles) {
  if constexpr (std::is_same_v<Value, float>) {
    return singles;
  } else {
    return values;
  }
}

/// What becomes of the arrays that a sweep is made of.
enum class HostSweepInput {
  copied,
  /// The pattern is the strict triangle alone. It outlives the sweep, and so does `source` and what load() is given: a
  /// sweep that runs in natural order may read them where they stand.
  lent
};

/// A strict triangle that a thread plan runs. "Position" below is the number of a row in the plan's order: natural
/// sweep order for one thread, thread by thread and level by level for several. Several threads have it packed by
/// position, with the nearest row last. The owner of a position is the first to write its entries, so that their memory
/// lies near it. For one thread it is stored by rows with ascending columns, so an upper triangle is read from its end,
/// and what is lent needs no packing.
class HostSweep {
 public:
  /// Takes the strict `triangle` of a square pattern. `source[e]` is where load() finds the value of the pattern's
  /// entry e; null: at e. The pool must outlive the sweep. `plan`: of this triangle, null: the sweep makes its own.
  /// precision: in_single: what load() is given is rounded to float.
  HostSweep(const CsrPattern& pattern, const Offset* source, Triangle triangle, host::ThreadPool& pool,
            std::shared_ptr<const ThreadPlan> plan = nullptr, HostSweepInput input = HostSweepInput::copied,
            Precision precision = Precision::in_double);

  void load(const double* values);

  [[nodiscard]] Index rows() const { return executor_.plan().rows(); }
  [[nodiscard]] Offset entries() const { return rows() == 0 ? 0 : offsets_[rows()]; }
  /// One thread counts when it is asked: nothing else of it needs levels, and finding them takes as long as a solve.
  [[nodiscard]] LevelCount level_count() const;
  [[nodiscard]] int threads() const { return executor_.plan().threads(); }
  /// The row at each position.
  [[nodiscard]] RowOrder order() const { return executor_.plan().order(); }
  [[nodiscard]] std::int64_t bytes() const;

  /// Solves with x_i = pivot(i, rhs(i) − Σ a_ij x_j) for all rows i; emit(i, x_i) is called once per row and returns
  /// nothing. pivot may take the row's position between the two: what is stored in that order is read in order.
  /// `x` is `rows` doubles of work space that holds x afterwards; rhs(i) may read x[i] of before.
  /// Value: in which values are stored: float in single precision. A parameter, so that callers that know compile one.
  /// @returns whether all x_i are finite
  template <class Value = double, class Rhs, class Pivot, class Emit>
  bool run(double* x, const Rhs& rhs, const Pivot& pivot, const Emit& emit) {
    const Value* const values = stored_as<Value>(values_, singles_.get());
    return follow_ ? run_with<RowBefore>(values, x, rhs, pivot, emit)
                   : run_with<NoRowBefore>(values, x, rhs, pivot, emit);
  }

  /// The same for several columns, each with the bits of a run by itself. `x`: rows of column_width() doubles, rows()
  /// of them. @returns whether all results are finite
  bool run_columns(double* x, const ColumnPass& pass);

 private:
  template <class Before, class Value, class Rhs, class Pivot, class Emit>
  bool run_with(const Value* values, double* x, const Rhs& rhs, const Pivot& pivot, const Emit& emit) {
    if (threads() > 1) return run_planned<Before>(values, x, rhs, pivot, emit);
    return forward_ ? run_in_order<1, Before>(values, x, rhs, pivot, emit)
                    : run_in_order<-1, Before>(values, x, rhs, pivot, emit);
  }

  template <int Width, class Value>
  bool run_columns_backward(const Value* stored, double* x, const ColumnPass& pass) const;
  /// Forward: positions of one thread are rows, too.
  template <int Width, class Value>
  bool run_columns_by_position(const Value* stored, double* x, const ColumnPass& pass);

  [[nodiscard]] bool find_whether_rows_follow() const;
  void store_by_rows(const CsrPattern& pattern, const Offset* source, Triangle triangle);
  void store_by_positions(const CsrPattern& pattern, const Offset* source, Triangle triangle);

  template <int Step, class Before, class Value, class Rhs, class Pivot, class Emit>
  bool run_in_order(const Value* values, double* x, const Rhs& rhs, const Pivot& pivot, const Emit& emit) const {
    const Index n = rows();
    const Offset* const offsets = offsets_;
    Offset next = Step > 0 ? 0 : entries() - 1;  // the entry to be read next, −1 where there is none
    Before before;
    bool finite = true;
    for (Index p = 0; p < n; ++p) {
      const Index i = Step > 0 ? p : n - 1 - p;
      const Offset count = offsets[i + 1] - offsets[i];
      double difference = rhs(i);
      if (count > 0) difference = subtract_row<Step>(difference, columns_ + next, values + next, count, x, before);
      const double sum = apply_pivot(pivot, i, p, difference);
      next += Step * count;
      x[i] = sum;
      before.take(i, sum);
      finite &= is_finite(sum);
      emit(i, sum);
    }
    return finite;
  }

  template <class Before, class Value, class Rhs, class Pivot, class Emit>
  bool run_planned(const Value* values, double* x, const Rhs& rhs, const Pivot& pivot, const Emit& emit) {
    const RowOrder row = order();
    const Offset* const offsets = offsets_;
    const Index* const columns = columns_;
    std::atomic<bool> finite{true};
    executor_.run([&](int, Index first, Index last) {
      Before before;
      bool mine = true;
      for (Index p = first; p < last; ++p) {
        const Index i = row[p];
        const double difference =
            subtract_row(rhs(i), columns + offsets[p], values + offsets[p], offsets[p + 1] - offsets[p], x, before);
        const double result = apply_pivot(pivot, i, p, difference);
        x[i] = result;
        before.take(i, result);
        mine &= is_finite(result);
        emit(i, result);
      }
      if (!mine) finite.store(false, std::memory_order_relaxed);
    });
    return finite.load(std::memory_order_relaxed);
  }

  PlanExecutor executor_;
  bool forward_;
  bool follow_ = false;              // most rows need the one before them
  LevelCount levels_;                // of several threads
  const Offset* offsets_ = nullptr;  // by position, of one thread by row; these and the next are own or lent ones
  const Index* columns_ = nullptr;
  const double* values_ = nullptr;
  const Offset* source_ = nullptr;  // null: load() lends the values themselves
  std::vector<Offset> own_offsets_;
  std::unique_ptr<Index[]> own_columns_;
  std::unique_ptr<double[]> own_values_;
  std::unique_ptr<float[]> singles_;  // instead of values_ where they are stored in single precision; else null
  std::unique_ptr<Offset[]> own_source_;
};

}  // namespace taskdag::kernels
