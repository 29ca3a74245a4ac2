/// \file
/// What sweeps over a layout share.
#pragma once

#include "kernels/sptrsv/schedules/supersteps/layout.hpp"
#include "kernels/sptrsv/schedules/supersteps/run_cell.cuh"

namespace taskdag::kernels::supersteps {

class LayoutSweep : public Sweep {
 public:
  LayoutSweep(Layout layout, const SweepInput& input, cudaStream_t stream);

  void load_values(const double* source, const double* pivot, cudaStream_t stream) override;
  [[nodiscard]] const double* result() const override { return result_.data(); }
  [[nodiscard]] const Index* result_index() const override { return layout_.place.data(); }
  [[nodiscard]] std::int64_t bytes() const override;

 protected:
  [[nodiscard]] CellArguments arguments(const double* rhs, double* x, int* non_finite) const;
  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] const Index* rhs_index() const { return rhs_index_.data(); }
  [[nodiscard]] const Index* x_index() const { return x_index_.data(); }
  /// With the pivots that were loaded last.
  [[nodiscard]] std::size_t shared_bytes() const {
    return unit_pivots_ ? layout_.shared_bytes : layout_.shared_pivots_bytes;
  }

 private:
  Layout layout_;
  cuda::DeviceArray<double> result_;  ///< by place, as are the others
  cuda::DeviceArray<Index> rhs_index_;
  cuda::DeviceArray<Index> x_index_;
  cuda::DeviceArray<double> pivot_;  ///< from the first load with pivots on
  bool unit_pivots_ = true;
};

}  // namespace taskdag::kernels::supersteps
