/// \file
/// Applications of a factor by point blocks whose sweeps are those of its rows.
#pragma once

#include "kernels/factor/point_block/cuda/rows.hpp"
#include "solver/cuda/sweep_pair.hpp"

namespace taskdag::cuda {

/// The sweeps of L and Ũ (kernels/factor/point_block/cuda/rows.hpp), by whatever schedule is chosen for them.
class PointBlockRows {
 public:
  /// row_order, col_order: of block rows; empty: natural. blocks: of the rows of the matrix, null: none; must outlive
  /// the sweeps. `symmetric`: an application is its own transpose. `complex`: blocks are of complex numbers, whose
  /// transposes are not conjugated. Synchronises `s`.
  PointBlockRows(const ScheduleRequest& request, const kernels::point_block::FactorBlocks& factor, bool symmetric,
                 bool complex, const DeviceArray<Index>& row_order, const DeviceArray<Index>& col_order,
                 const RowBlocks* blocks, cudaStream_t s);

  /// Takes the values of the factor. Asynchronous.
  void load(const kernels::point_block::FactorBlocks& factor, cudaStream_t s);

  [[nodiscard]] bool transposes() const { return symmetric_ || transposed_.first.sweep; }
  /// Makes what a transposed application needs, with the factor's values. Synchronises `s`.
  void prepare_transposed(const kernels::point_block::FactorBlocks& factor, cudaStream_t s);

  /// x = M⁻¹ b, transposed: M⁻ᵀ b, in device memory; one array for both will do. non_finite: raised where x is not
  /// finite. Asynchronous.
  void apply(const kernels::point_block::FactorBlocks& factor, bool transposed, const double* b, double* x,
             int* non_finite, cudaStream_t s);

  [[nodiscard]] const SweepPair& sweeps() const { return sweeps_; }
  [[nodiscard]] std::int64_t bytes() const;

 private:
  ScheduleRequest request_;
  const RowBlocks* blocks_;
  bool symmetric_;
  bool complex_;
  DeviceArray<Index> row_order_;  ///< of rows; empty: natural
  DeviceArray<Index> col_order_;
  SweepPair sweeps_;
  SweepPair transposed_;        ///< from the first transposed application on, unless symmetric
  DeviceArray<double> middle_;  ///< right-hand side of the second sweep, by row
};

}  // namespace taskdag::cuda
