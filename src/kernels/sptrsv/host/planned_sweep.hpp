/// \file
/// Triangular sweeps on host threads.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "backends/host/thread_pool.hpp"
#include "base/handover.hpp"
#include "dag/levels.hpp"
#include "dag/plan_runner.hpp"
#include "kernels/sptrsv/host/columns.hpp"

namespace taskdag::kernels {

/// difference − Σ value_k x[column_k]. The last entry, the nearest row, is subtracted last, so that in natural order
/// only one product and one subtraction wait for the row before. Long rows use four sums, whose latencies overlap; the
/// order of the operations depends on the row's length alone.
inline double subtract_row(double difference, const Index* column, const double* value, Offset count, const double* x) {
  if (count > 8) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    do {
      for (int k = 0; k < 4; ++k) sums[k] += value[k] * x[column[k]];
      value += 4;
      column += 4;
      count -= 4;
    } while (count > 4);
    difference -= (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
  for (; count > 0; --count) difference -= *value++ * x[*column++];
  return difference;
}

/// pivot(row, place, value), or pivot(row, value) where it takes no place.
template <class Pivot>
double apply_pivot(const Pivot& pivot, Index row, Index place, double value) {
  if constexpr (std::is_invocable_v<const Pivot&, Index, Index, double>) {
    return pivot(row, place, value);
  } else {
    return pivot(row, value);
  }
}

/// A strict triangle, packed in the order in which a thread plan runs its rows: natural sweep order for one thread,
/// thread by thread and level by level for several. "Position" below is the place of a row in that order.
/// The owner of a position is the first to write its entries, so that their memory lies near it.
class HostSweep {
 public:
  /// Copies the strict `triangle` of a square pattern. `source[e]` is where load() finds the value of the pattern's
  /// entry e; null: at e. The pool must outlive the sweep. `plan`: of this triangle, null: the sweep makes its own.
  HostSweep(const CsrPattern& pattern, const Offset* source, Triangle triangle, host::ThreadPool& pool,
            std::shared_ptr<const ThreadPlan> plan = nullptr);

  void load(const double* values);

  [[nodiscard]] Index rows() const { return runner_.plan().rows(); }
  [[nodiscard]] Offset entries() const { return offsets_.back(); }
  [[nodiscard]] Index levels() const { return levels_.levels; }
  [[nodiscard]] Index widest_level() const { return levels_.widest_level; }
  [[nodiscard]] int threads() const { return runner_.plan().threads(); }
  /// The row at each position.
  [[nodiscard]] std::span<const Index> order() const { return runner_.plan().order(); }
  [[nodiscard]] std::int64_t bytes() const;

  /// Solves with x_i = pivot(i, rhs(i) − Σ a_ij x_j) for all rows i; emit(i, x_i) is called once per row and returns
  /// nothing. pivot may take the row's position between the two: what is stored in that order is read in order.
  /// `x` is `rows` doubles of work space that holds x afterwards; rhs(i) may read x[i] of before.
  /// @returns whether all x_i are finite
  template <class Rhs, class Pivot, class Emit>
  bool run(double* x, const Rhs& rhs, const Pivot& pivot, const Emit& emit) {
    return threads() == 1 ? run_in_order(x, rhs, pivot, emit) : run_planned(x, rhs, pivot, emit);
  }

  /// The same for Width right-hand sides at once, each with the bits of a run by itself: rhs(i) and emit(i, x_i) have
  /// ColumnValues<Width>, `x` is rows of Width doubles, rows() of them.
  template <int Width, class Rhs, class Pivot, class Emit>
  bool run_columns(double* x, const Rhs& rhs, const Pivot& pivot, const Emit& emit) {
    const Index* const row = runner_.plan().order().data();
    const Offset* const offsets = offsets_.data();
    std::atomic<bool> finite{true};
    runner_.run([&](int, Index first, Index last) {
      bool mine = true;
      for (Index p = first; p < last; ++p) {
        const Index i = row[p];
        ColumnValues<Width> values = rhs(i);
        mine &= run_row(
            values, columns_.get() + offsets[p], values_.get() + offsets[p], offsets[p + 1] - offsets[p],
            [&](double value) { return apply_pivot(pivot, i, p, value); }, x, i);
        emit(i, values);
      }
      if (!mine) finite.store(false, std::memory_order_relaxed);
    });
    return finite.load(std::memory_order_relaxed);
  }

 private:
  template <class Rhs, class Pivot, class Emit>
  bool run_in_order(double* x, const Rhs& rhs, const Pivot& pivot, const Emit& emit) const {
    const Index n = rows();
    const Offset* const offsets = offsets_.data();
    const Index* column = columns_.get();
    const double* value = values_.get();
    bool finite = true;
    for (Index p = 0; p < n; ++p) {
      const Index i = forward_ ? p : n - 1 - p;
      const Offset count = offsets[p + 1] - offsets[p];
      const double sum = apply_pivot(pivot, i, p, subtract_row(rhs(i), column, value, count, x));
      column += count;
      value += count;
      x[i] = sum;
      finite &= is_finite(sum);
      emit(i, sum);
    }
    return finite;
  }

  template <class Rhs, class Pivot, class Emit>
  bool run_planned(double* x, const Rhs& rhs, const Pivot& pivot, const Emit& emit) {
    const Index* const row = runner_.plan().order().data();
    const Offset* const offsets = offsets_.data();
    const Index* const columns = columns_.get();
    const double* const values = values_.get();
    std::atomic<bool> finite{true};
    runner_.run([&](int, Index first, Index last) {
      bool mine = true;
      for (Index p = first; p < last; ++p) {
        const Index i = row[p];
        const double difference =
            subtract_row(rhs(i), columns + offsets[p], values + offsets[p], offsets[p + 1] - offsets[p], x);
        const double result = apply_pivot(pivot, i, p, difference);
        x[i] = result;
        mine &= is_finite(result);
        emit(i, result);
      }
      if (!mine) finite.store(false, std::memory_order_relaxed);
    });
    return finite.load(std::memory_order_relaxed);
  }

  PlanRunner runner_;
  bool forward_;
  LevelCount levels_;
  std::vector<Offset> offsets_;       // by position
  std::unique_ptr<Index[]> columns_;  // the nearest row last
  std::unique_ptr<double[]> values_;
  std::unique_ptr<Offset[]> source_;
};

}  // namespace taskdag::kernels
