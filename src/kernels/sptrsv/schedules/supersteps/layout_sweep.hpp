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
  [[nodiscard]] const Index* result_index() const override { return result_index_.data(); }
  [[nodiscard]] std::int64_t bytes() const override;

 protected:
  [[nodiscard]] CellArguments arguments(const double* rhs, double* x, int* non_finite) const;
  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] UserRows rhs_rows() const { return view(rhs_rows_, false); }
  [[nodiscard]] UserRows x_rows() const { return view(x_rows_, true); }
  /// With the pivots that were loaded last.
  [[nodiscard]] std::size_t shared_bytes() const {
    return unit_pivots_ ? layout_.shared_bytes : layout_.shared_pivots_bytes;
  }

 private:
  /// UserRows, in the order of the places or in that of the rows, whichever has the longer runs in the vector.
  struct Elements {
    cuda::DeviceArray<Index> index;
    bool by_row = false;
    cuda::DeviceArray<Index> run;  ///< UserRows::run, or nothing
  };
  [[nodiscard]] Elements list(bool of_x, const Index* vector_index, bool by_row, cudaStream_t stream);
  void find_runs(Elements& of, cudaStream_t stream);
  [[nodiscard]] UserRows view(const Elements& elements, bool of_x) const {
    return {elements.index.data(), elements.by_row ? by_row_.data() : nullptr, elements.run.data(), of_x};
  }

  Layout layout_;
  cuda::DeviceArray<double> result_;       ///< cell by cell, a cell's in the order of by_row_
  cuda::DeviceArray<Index> result_index_;  ///< by row
  cuda::DeviceArray<std::uint16_t>
      by_row_;  ///< rows of each cell in their own order, numbered from its first place; by place, as what follows
  Elements rhs_rows_;
  Elements x_rows_;
  cuda::DeviceArray<Index> outer_element_;  ///< of outer entries: where their operands are in x, from x_base; or kNone
  cuda::DeviceArray<double> pivot_;         ///< from the first load with pivots on
  bool unit_pivots_ = true;
};

}  // namespace taskdag::kernels::supersteps
