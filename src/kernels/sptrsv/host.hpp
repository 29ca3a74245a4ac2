/// \file
/// Triangular sweeps on host threads.
#pragma once

#include <vector>

#include "backends/host/seam.hpp"
#include "backends/host/thread_pool.hpp"
#include "base/handover.hpp"
#include "kernels/sptrsv/task.hpp"
#include "taskdag/schedule.hpp"

namespace taskdag::kernels {

/// A strict triangle, packed in the order in which its rows run: natural sweep order for one thread, schedule order
/// with columns renumbered to positions for several. "Position" below is the place of a row in that order.
class HostSweep {
 public:
  /// Copies the strict `triangle` of a square pattern. `source[e]` is where load() finds the value of the pattern's
  /// entry e; null: at e. The pool must outlive the sweep.
  HostSweep(const CsrPattern& pattern, const Offset* source, Triangle triangle, host::ThreadPool& pool);

  void load(const double* values);

  [[nodiscard]] Index rows() const { return static_cast<Index>(row_.size()); }
  [[nodiscard]] Offset entries() const { return offsets_.back(); }
  [[nodiscard]] Index levels() const { return levels_; }
  [[nodiscard]] Index widest_level() const { return widest_level_; }
  [[nodiscard]] std::int64_t bytes() const;

  /// Solves with x_i = (rhs(i) − Σ a_ij x_j) · pivot(i) for all rows i; emit(i, x_i) is called once per row and returns
  /// nothing. `x` is `rows` doubles of work space that holds x afterwards; rhs(i) may read x[i] of before.
  /// @returns whether all x_i are finite
  template <class Rhs, class Pivot, class Emit>
  bool run(double* x, const Rhs& rhs, const Pivot& pivot, const Emit& emit) {
    return pool_->threads() == 1 ? run_in_order(x, rhs, pivot, emit) : run_scheduled(x, rhs, pivot, emit);
  }

 private:
  template <class Rhs, class Pivot, class Emit>
  bool run_in_order(double* x, const Rhs& rhs, const Pivot& pivot, const Emit& emit) const {
    const Index n = rows();
    const Offset* const offsets = offsets_.data();
    const Index* column = columns_.data();
    const double* value = values_.data();
    bool finite = true;
    for (Index p = 0; p < n; ++p) {
      const Index i = forward_ ? p : n - 1 - p;
      double sum = rhs(i);
      for (Offset left = offsets[p + 1] - offsets[p]; left > 0; --left) sum -= *value++ * x[*column++];
      sum = pivot(i, sum);
      x[i] = sum;
      finite &= is_finite(sum);
      emit(i, sum);
    }
    return finite;
  }

  template <class Rhs, class Pivot, class Emit>
  bool run_scheduled(double* x, const Rhs& rhs, const Pivot& pivot, const Emit& emit) {
    struct Entries {
      const Index* columns;
      const double* values;
      Index size;
      [[nodiscard]] Index count() const { return size; }
      void load(Index first, Index (&column)[1], double (&value)[1]) const {
        column[0] = columns[first];
        value[0] = values[first];
      }
    };
    struct Operands {
      double* slots;
      void wait(const Index (&column)[1], double (&operand)[1]) const {
        operand[0] = host::wait_value(slots[column[0]]);
      }
    };
    double* const slots = slots_[current_].data();
    double* const next = slots_[1 - current_].data();
    current_ = 1 - current_;
    std::atomic<bool> finite{true};
    tickets_.reset();
    pool_->run([&](int) {
      bool mine = true;
      Index first = 0;
      Index last = 0;
      while (tickets_.take(rows(), chunk_, first, last)) {
        for (Index p = first; p < last; ++p) {
          const auto at = static_cast<std::size_t>(p);
          const Index i = row_[at];
          const Offset begin = offsets_[at];
          const Entries entries{columns_.data() + begin, values_.data() + begin, offsets_[at + 1] - begin};
          const double difference = sptrsv_row<1>(host::SingleThread(), entries, Operands{slots}, rhs(i), 1.0);
          const double result = pivot(i, difference);
          host::publish_value(slots[p], result);
          next[p] = not_yet();  // for the next run, which the pool orders after this one
          x[i] = result;
          mine = mine && is_finite(result);
          emit(i, result);
        }
      }
      if (!mine) finite.store(false, std::memory_order_relaxed);
    });
    return finite.load(std::memory_order_relaxed);
  }

  host::ThreadPool* pool_;
  bool forward_;
  Index levels_ = 0;
  Index widest_level_ = 0;
  Index chunk_ = 1;
  std::vector<Index> row_;       // by position
  std::vector<Offset> offsets_;  // by position
  std::vector<Index> columns_;   // rows for one thread, positions for several; the nearest row last
  std::vector<double> values_;
  std::vector<Offset> source_;
  std::vector<double> slots_[2];  // by position, several threads only: published values; the other one is being reset
  int current_ = 0;
  host::TicketCounter tickets_;
};

}  // namespace taskdag::kernels
