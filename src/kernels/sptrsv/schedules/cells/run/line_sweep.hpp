/// \file
/// The sweep of what runs line by line of a grid: bands and pencils.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/index.hpp"
#include "kernels/sptrsv/schedules/cells/cut/order.cuh"
#include "kernels/sptrsv/schedules/cells/run/slot_sets.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels::cells {

/// What every solve along lines gets; arrays in device memory.
struct LineSolve {
  SweepOrder order;
  const double* pivot;     ///< by row; null: 1
  const Index* rhs_index;  ///< null: the same
  const Index* x_index;
  const double* rhs;
  double idle_rhs;  ///< where a lane has no column
  double* x;
  int* non_finite;
};

/// Rows stay in their order, and pivots and results are stored by row.
///
/// Lines: how a grid is cut, with the arrays of its entries and the launches of its kernels. It has kReciprocals (there
/// is a kernel of recurrences), kFindsSources (sources of entries are soon found in a pattern), slots(),
/// reserve(input, stream), rely_on(pattern), load_values(order, pivots, source, pivot, stream), product_places(),
/// load_products(order, products, stream), return_values(order, pivots, pivot, entries, stream), solve(arguments, sets,
/// stream) and solve_reciprocals(arguments, sets, stream), which return how many tickets they take, and bytes().
template <class Lines>
class LineSweep final : public Sweep, public ReturnsValues, public SolvesReciprocals {
 public:
  /// Synchronises `stream`.
  LineSweep(const SweepInput& input, Lines lines, cudaStream_t stream)
      : lines_(std::move(lines)),
        order_(order_of(input)),
        rhs_index_(cuda::copy_of(input.rhs_index, at(input.pattern.rows), stream)),
        x_index_(cuda::copy_of(input.x_index, at(input.pattern.rows), stream)),
        slot_sets_(lines_.slots(), false, stream) {
    lines_.reserve(input, stream);
    cuda::synchronize(stream);  // the input's arrays may go
  }

  void load_values(const double* source, const double* pivot, cudaStream_t stream) override {
    unit_pivots_ = pivot == nullptr;
    if (unit_pivots_) {
      reserve(result_, stream);  // of a first sweep: others are seldom asked for theirs
    } else {
      reserve(pivot_, stream);
    }
    lines_.load_values(order_, pivots(), source, pivot, stream);
    slot_sets_.wait_for_values();
  }
  void load_products(const ValueProducts& products, cudaStream_t stream) override {
    if constexpr (Lines::kReciprocals) {
      unit_pivots_ = true;
      lines_.load_products(order_, products, stream);
      slot_sets_.wait_for_values();
    }
  }

  [[nodiscard]] std::size_t product_places() const override { return lines_.product_places(); }
  [[nodiscard]] bool finds_partners() const override { return true; }

  void return_values(const double* pivot, double* entries, cudaStream_t stream) const override {
    lines_.return_values(order_, pivots(), pivot, entries, stream);
  }
  void rely_on(const DevicePattern& pattern) override {
    if constexpr (Lines::kFindsSources) lines_.rely_on(pattern);
  }

  void solve(const double* rhs, double* x, int* non_finite, cudaStream_t stream) override {
    run(rhs, x, 0.0, non_finite, stream, [&](const LineSolve& arguments, const SlotSets::ForSolve& sets) {
      return lines_.solve(arguments, sets, stream);
    });
  }
  void solve_reciprocals(const double* rhs, double* x, int* non_finite, cudaStream_t stream) override {
    if constexpr (Lines::kReciprocals) {
      // No reciprocal of zero where there is no row.
      run(rhs, x, 1.0, non_finite, stream, [&](const LineSolve& arguments, const SlotSets::ForSolve& sets) {
        return lines_.solve_reciprocals(arguments, sets, stream);
      });
    }
  }
  Capabilities capabilities() override {
    return {.returns_values = this, .solves_reciprocals = Lines::kReciprocals ? this : nullptr};
  }

  [[nodiscard]] const double* result() const override { return result_.data(); }
  [[nodiscard]] const Index* result_index() const override { return nullptr; }

  [[nodiscard]] std::int64_t bytes() const override {
    return lines_.bytes() + rhs_index_.bytes() + x_index_.bytes() + pivot_.bytes() + result_.bytes() +
           slot_sets_.bytes();
  }

 private:
  void reserve(cuda::DeviceArray<double>& by_row, cudaStream_t stream) const {
    if (by_row.size() == 0) by_row = {at(order_.rows), stream};
  }
  [[nodiscard]] double* pivots() const { return unit_pivots_ ? nullptr : pivot_.data(); }

  template <class Launch>
  void run(const double* rhs, double* x, double idle_rhs, int* non_finite, cudaStream_t stream, const Launch& launch) {
    if (x == nullptr) reserve(result_, stream);
    const LineSolve arguments{.order = order_,
                              .pivot = pivots(),
                              .rhs_index = rhs_index_.data(),
                              .x_index = x ? x_index_.data() : nullptr,
                              .rhs = rhs,
                              .idle_rhs = idle_rhs,
                              .x = x ? x : result_.data(),
                              .non_finite = non_finite};
    slot_sets_.take(stream, [&](const SlotSets::ForSolve& sets) { return launch(arguments, sets); });
  }

  Lines lines_;
  SweepOrder order_;
  cuda::DeviceArray<Index> rhs_index_;  ///< empty: the same
  cuda::DeviceArray<Index> x_index_;
  cuda::DeviceArray<double> pivot_;  ///< from the first load with pivots on
  SlotSets slot_sets_;
  cuda::DeviceArray<double> result_;  ///< from the first load without pivots or the first solve that needs it on
  bool unit_pivots_ = true;
};

}  // namespace taskdag::kernels::cells
