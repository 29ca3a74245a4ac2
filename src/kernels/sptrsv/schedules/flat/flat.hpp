/// \file
/// The "flat" schedule: warp tasks in level order, each waits for its operands' values.
#pragma once

#include "kernels/sptrsv/schedules/flat/packed_triangle.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels {

/// index[row at p] by position p, −1 for a part; empty where index is null. Asynchronous.
cuda::DeviceArray<Index> by_position(const Index* index, const TaskList& tasks, cudaStream_t stream);

/// One launch a solve, or several where levels are wide. The packed triangle works by position (rows in level order);
/// the index maps of the input are composed with that order once, pivots are gathered when values are loaded.
///
/// result() is the set of slots that the last solve handed its values over in, by position: valid until the next solve,
/// which resets it.
class FlatSweep : public Sweep, public GathersValues, public JoinsProducts {
 public:
  /// input.ranges and input.levels are needed. Synchronises `stream`.
  FlatSweep(const SweepInput& input, cudaStream_t stream);

  void load_values(const double* source, const double* pivot, cudaStream_t stream) override;
  void gather_values(GatherBatch& batch, const double* source, const double* pivot, cudaStream_t stream) override;
  void solve(const double* rhs, double* x, int* non_finite, cudaStream_t stream) override;
  void begin_product(const double* v, int* non_finite, cudaStream_t stream) override;
  void prepare_product(const Sweep& first, const ProductRows& rows, cudaStream_t stream) override;
  void finish_product(const double* v, double* y, int* non_finite, cudaStream_t stream) override;
  [[nodiscard]] const double* result() const override { return packed_.result(); }
  [[nodiscard]] const Index* result_index() const override { return packed_.tasks().position.data(); }
  [[nodiscard]] std::int64_t bytes() const override;
  /// Values that are rounded, or are numbers of two doubles, are not gathered; those end no products.
  Capabilities capabilities() override {
    const bool plain = !packed_.is_single() && !packed_.is_complex();
    return {.gathers_values = plain ? this : nullptr, .joins_products = packed_.is_complex() ? nullptr : this};
  }

 protected:
  [[nodiscard]] const PackedTriangle& packed() const { return packed_; }
  [[nodiscard]] PackedTriangle& packed() { return packed_; }
  /// Of a solve; `x` by rows of the input's x_index.
  [[nodiscard]] SolveArguments arguments(const double* rhs, double* x, int* non_finite) const;

 private:
  /// Whether there are pivots other than 1.
  bool makes_room_for_pivots(const double* pivot, cudaStream_t stream);
  void gather_pivots(GatherBatch& batch, const double* pivot, cudaStream_t stream);
  void take_numbers(const double* source, const double* pivot, cudaStream_t stream);

  PackedTriangle packed_;
  /// position → entry, −1 for a part; empty where the input has no map: the order itself
  cuda::DeviceArray<Index> rhs_index_;
  cuda::DeviceArray<Index> x_index_;
  cuda::DeviceArray<double> pivot_;  ///< by position, from the first load with pivots on
  bool unit_pivots_ = true;
  ProductOperands product_;
};

}  // namespace taskdag::kernels
