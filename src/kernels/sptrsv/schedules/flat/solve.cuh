/// \file
/// What the kernels of the schedule flat do for one task.
///
/// Parts: whether the triangle has rows in parts (parts.hpp). Without, nothing looks for them. Product: whether the
/// solve ends a product (JoinsProducts::finish_product()).
/// Value: in which values are stored. Of float, pivots scale right-hand sides (SweepInput::precision); with Complex,
/// right-hand sides, results and pivots are complex numbers, too.
#pragma once

#include <type_traits>

#include "backends/cuda/overlap.cuh"
#include "backends/cuda/seam.cuh"
#include "kernels/sptrsv/schedules/flat/number.cuh"
#include "kernels/sptrsv/schedules/flat/packed_triangle.hpp"
#include "kernels/sptrsv/task.hpp"

namespace taskdag::kernels {

using cuda::kWarpSize;
using cuda::let_next_launch_start;
using cuda::Slots;
using cuda::wait_for_last_launch;

/// Operands of a lane asked for at once where rows have many: of a part, of a row in parts.
inline constexpr int kWideBatch = 8;

template <class Value>
inline constexpr bool kScalesRhs = std::is_same_v<Value, float>;

/// What a sweep with such values computes with.
template <class Value>
using NumberOf = std::conditional_t<is_complex<Value>, Complex, double>;

__device__ inline double load_value(const double* value) { return __ldg(value); }
__device__ inline double load_value(const float* value) { return double{__ldg(value)}; }
__device__ inline Complex load_value(const Complex* value) {
  const double2 parts = __ldg(reinterpret_cast<const double2*>(value));
  return {parts.x, parts.y};
}

/// A lane's entries of one task.
template <class Value>
struct LaneEntries {
  const Index* column;  // of this lane, stride 32
  const Value* value;
  Index width;
  Index absent;  // column of an operand that is 0
  __device__ Index count() const { return width; }
  template <int Batch>
  __device__ void load(Index first, Index (&c)[Batch], NumberOf<Value> (&v)[Batch]) const {
#pragma unroll
    for (int k = 0; k < Batch; ++k) {
      const std::int64_t slot = std::int64_t{first + k} * kWarpSize;
      const bool present = Batch <= kEntriesPerLane || first + k < width;  // see build_tasks: those divide the width
      c[k] = present ? __ldg(column + slot) : absent;
      v[k] = present ? load_value(value + slot) : NumberOf<Value>(0.0);
    }
  }
};

/// Operands that earlier launches have published.
template <bool Overlaps, class Number>
struct Settled {
  SlotsOf<Number> slots;
  template <int Batch>
  __device__ void wait(const Index (&index)[Batch], Number (&value)[Batch]) const {
    wait_for_last_launch();  // column and value have been asked for; nothing else until the level before ends
#pragma unroll
    for (int k = 0; k < Batch; ++k) {
      // Through the first-level cache, so that operands that all rows have in common crowd nothing out of the second.
      // If the level before was still at work when this launch began, that cache may hold lines from before its end.
      value[k] = Overlaps ? slots.peek(index[k]) : element_of<Number>(slots.slot, index[k]);
    }
  }
};

/// Operands that this launch publishes. begin(): to be called before anything that launches write is looked at.
template <class Number>
class Published {
 public:
  __device__ explicit Published(const SolveParameters& p) : slots_{p.slots} {}
  template <int Batch, class Begin>
  __device__ void wait(const Index (&index)[Batch], Number (&value)[Batch], const Begin& begin) const {
    begin();
    slots_.wait(index, value);
  }

 private:
  SlotsOf<Number> slots_;
};

/// What a row of a solve that ends a product needs besides. Made of what never changes; read_right() needs the sweep
/// before.
struct ProductRow {
  double middle = 0.0;
  double scale = 1.0;
  Index first_entry = -1;
  double u = 0.0;

  ProductRow() = default;
  __device__ ProductRow(const ProductArguments& a, Index position)
      : middle(__ldg(a.middle + position)),
        scale(a.scale != nullptr ? __ldg(a.scale + position) : 1.0),
        first_entry(__ldg(a.first_index + position)) {}
  /// The right-hand side; v: its entry.
  __device__ double read_right(const ProductArguments& a, const double* v) {
    u = a.share * a.first[first_entry];
    return *v - middle * u;
  }
  [[nodiscard]] __device__ double sum(double result) const { return u + scale * result; }
};
struct NoProduct {};

/// Operands that are rows without entries: computed, with the bits that their own tasks give them, and not waited for.
template <bool Product, class Number>
class Computed {
 public:
  __device__ explicit Computed(const SolveParameters& p) : p_(p) {}
  template <int Batch, class Begin>
  __device__ void wait(const Index (&index)[Batch], Number (&value)[Batch], const Begin& begin) const {
    Index entry[Batch];
    Number pivot[Batch];
#pragma unroll
    for (int k = 0; k < Batch; ++k) {
      const bool present = index[k] < p_.rows;
      entry[k] = present ? __ldg(p_.a.rhs_index + index[k]) : -1;
      pivot[k] = present && p_.a.pivot ? fixed_element_of<Number>(p_.a.pivot, index[k]) : Number(1.0);
    }
    begin();
#pragma unroll
    for (int k = 0; k < Batch; ++k) {
      if constexpr (Product) {
        const double* const v = p_.a.rhs + entry[k];
        value[k] = entry[k] >= 0 ? ProductRow(p_.product, index[k]).read_right(p_.product, v) * pivot[k] : 0.0;
      } else {
        value[k] = entry[k] >= 0 ? element_of<Number>(p_.a.rhs, entry[k]) * pivot[k] : Number(0.0);
      }
    }
  }

 private:
  const SolveParameters& p_;
};

/// A factor that leaves all bits as they are, which a complex 1 would not: its imaginary part may meet an infinity.
struct One {};
template <class Number>
__device__ Number operator*(Number a, One) {
  return a;
}

template <bool Parts, class Entries, class Operands, class Number, class Pivot>
__device__ Number run_row(const NumberGroup& group, const Entries& entries, const Operands& operands, Number rhs,
                          Pivot pivot) {
  if (Parts && entries.width > kEntriesPerLane) return sptrsv_row<kWideBatch>(group, entries, operands, rhs, pivot);
  switch (entries.width) {  // the same for the whole warp
    case 0:
      return rhs * pivot;
    case 1:
      return sptrsv_row<1>(group, entries, operands, rhs, pivot);
    case 2:
      return sptrsv_row<2>(group, entries, operands, rhs, pivot);
    case 3:
      return sptrsv_row<3>(group, entries, operands, rhs, pivot);
    default:
      return sptrsv_row<kEntriesPerLane>(group, entries, operands, rhs, pivot);
  }
}

__device__ inline WarpTask load_task(const WarpTask* task) {
  const int4 raw = __ldg(reinterpret_cast<const int4*>(task));
  WarpTask result;
  memcpy(&result, &raw, sizeof(result));
  return result;
}

/// A lane's part in a task.
template <bool Parts, bool Product = false, class Value = double>
struct LaneTask {
  using Number = NumberOf<Value>;
  WarpTask task;
  int lane;
  int lanes;  ///< of a row
  bool active;
  bool leader;  ///< the first lane of a row
  Index position;
  Index rhs_entry = -1;  ///< of a leader
  Number rhs = 0.0;
  Number pivot = 1.0;
  std::conditional_t<Product, ProductRow, NoProduct> product;  ///< of a leader with a right-hand side

  __device__ LaneTask(const SolveParameters& p, Index t, int lane_in_warp, bool with_rhs = true)
      : task(load_task(p.task + t)), lane(lane_in_warp), lanes(1 << task.log2_lanes) {
    const int row_in_task = lane >> task.log2_lanes;
    active = row_in_task < task.rows;
    leader = active && (lane & (lanes - 1)) == 0;
    position = task.first + row_in_task;
    if (!leader) return;
    rhs_entry = __ldg(p.a.rhs_index + position);
    if constexpr (Product) {
      if (has_rhs()) product = ProductRow(p.product, position);
    }
    if (with_rhs && has_rhs()) rhs = read_rhs(p);
    if (p.a.pivot) pivot = fixed_element_of<Number>(p.a.pivot, position);
    if (!has_rhs()) pivot = -1.0;  // a part hands over its sum
    if constexpr (kScalesRhs<Value>) {
      if (!with_rhs || !has_rhs()) return;
      rhs = __dmul_rn(rhs, pivot);  // never a part of a fused operation: a first task must give the same bits
      pivot = 1.0;
    }
  }
  /// Of a leader: false for a part.
  __device__ bool has_rhs() const { return !Parts || rhs_entry >= 0; }
  /// Of a leader that has one.
  __device__ Number read_rhs(const SolveParameters& p) {
    if constexpr (Product) {
      return product.read_right(p.product, p.a.rhs + rhs_entry);
    } else {
      return element_of<Number>(p.a.rhs, rhs_entry);
    }
  }

  template <class Operands>
  __device__ Number run(const SolveParameters& p, const Operands& operands) const {
    return run(p, operands, pivot);
  }
  template <class Operands, class Pivot>
  __device__ Number run(const SolveParameters& p, const Operands& operands, Pivot times) const {
    const std::int64_t slot = std::int64_t{task.offset} * kWarpSize + lane;
    return run_row<Parts>(
        NumberGroup(lane, lanes),
        LaneEntries<Value>{p.column + slot, static_cast<const Value*>(p.value) + slot, task.width, p.rows}, operands,
        rhs, times);
  }
  __device__ void publish(const SolveParameters& p, Number result) const {
    if (leader) SlotsOf<Number>{p.slots}.publish(position, result);
  }
  /// Where the caller wants the result; −1: nowhere.
  __device__ Index x_entry(const SolveParameters& p) const {
    if constexpr (Product) return leader && has_rhs() ? rhs_entry : -1;
    return leader && has_rhs() && p.a.x ? __ldg(p.a.x_index + position) : -1;
  }
  __device__ void hand_out(const SolveParameters& p, Number result, Index entry) const {
    if constexpr (Product) {
      if (entry < 0) return;
      const double sum = product.sum(result);
      if (!is_finite(sum)) *p.a.non_finite = 1;
      p.product.y[entry] = sum;
    } else {
      if (leader && has_rhs() && !is_finite(result)) *p.a.non_finite = 1;
      if (entry >= 0) set_element(p.a.x, entry, result);
    }
  }
  /// Other rows first.
  __device__ void finish(const SolveParameters& p, Number result) const {
    publish(p, result);
    hand_out(p, result, x_entry(p));
  }
};

/// Operands of a warp's first task, which is begun while the launch before may still be at work: nothing that launches
/// write is looked at until that has ended, but entries have been asked for by then. Only after that may the next
/// launch start: so two launches overlap at most.
template <class Operands, bool Product, class Number>
class FirstOperands {
 public:
  /// task: what it needs for its right-hand side is noted in it.
  template <class Task>
  __device__ FirstOperands(const SolveParameters& p, Task& task)
      : operands_(p), rhs_(p.a.rhs), entry_(task.leader && task.has_rhs() ? task.rhs_entry : -1) {
    if constexpr (Product) {
      product_ = &p.product;
      row_ = &task.product;
    }
  }

  template <int Batch>
  __device__ void wait(const Index (&index)[Batch], Number (&value)[Batch]) const {
    operands_.wait(index, value, [this] { begin(); });
  }
  /// The right-hand side of the lane's row.
  __device__ Number rhs() const {
    begin();
    return own_;
  }

 private:
  __device__ void begin() const {
    if (begun_) return;
    wait_for_last_launch();
    let_next_launch_start();
    if constexpr (Product) {
      if (entry_ >= 0) own_ = row_->read_right(*product_, rhs_ + entry_);
    } else {
      if (entry_ >= 0) own_ = element_of<Number>(rhs_, entry_);
    }
    begun_ = true;
  }

  Operands operands_;
  const double* rhs_;
  Index entry_;  ///< of the lane's row; −1: it has none
  std::conditional_t<Product, const ProductArguments*, NoProduct> product_;
  std::conditional_t<Product, ProductRow*, NoProduct> row_;
  mutable Number own_ = 0.0;
  mutable bool begun_ = false;
};

/// resets: the slots of the next solve.
template <bool Parts, class Operands, bool Product, class Value>
__device__ void run_first_task(const SolveParameters& p, Index t, int lane, bool resets) {
  using Number = NumberOf<Value>;
  LaneTask<Parts, Product, Value> task(p, t, lane, false);
  task.rhs = neutral<Number>();
  const FirstOperands<Operands, Product, Number> operands(p, task);
  const Index x_entry = task.x_entry(p);
  const Number sum = task.run(p, operands, One{});
  const Number rhs = operands.rhs();
  if (resets && task.leader) set_element(p.next_slots, task.position, nothing_yet<Number>());
  Number result;
  if constexpr (kScalesRhs<Value>) {
    result = task.has_rhs() ? __dmul_rn(rhs, task.pivot) + sum : (rhs + sum) * task.pivot;
  } else {
    result = (rhs + sum) * task.pivot;
  }
  task.publish(p, result);
  task.hand_out(p, result, x_entry);
}

template <bool Parts, bool Product = false, class Value = double>
__device__ void run_task(const SolveParameters& p, Index t, int lane) {
  using Number = NumberOf<Value>;
  const SlotsOf<Number> slots{p.slots};
  const LaneTask<Parts, Product, Value> task(p, t, lane);
  if (task.leader) set_element(p.next_slots, task.position, nothing_yet<Number>());
  if (task.active && task.lanes > 1) {  // a row with one lane has few operands: looking at all of them costs little
    const Index gate = __ldg(p.gate + task.position);
    if (gate < p.rows) slots.wait_patiently(gate, p.gate_pause_ns);
  }
  __syncwarp();
  task.finish(p, task.run(p, slots));
}

}  // namespace taskdag::kernels
