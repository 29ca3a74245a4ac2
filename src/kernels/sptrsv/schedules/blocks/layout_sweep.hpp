/// \file
/// What sweeps over a layout share.
#pragma once

#include <optional>

#include "kernels/sptrsv/schedules/blocks/layout.hpp"
#include "kernels/sptrsv/schedules/blocks/pack.hpp"
#include "kernels/sptrsv/schedules/blocks/run_portion.cuh"

namespace taskdag::kernels::supersteps {

class LayoutSweep : public Sweep {
 public:
  LayoutSweep(Layout layout, const SweepInput& input, cudaStream_t stream);

  void load_values(const double* source, const double* pivot, cudaStream_t stream) override;
  [[nodiscard]] const double* result() const override { return result_.data(); }
  [[nodiscard]] const Index* result_index() const override;
  [[nodiscard]] std::int64_t bytes() const override;

 protected:
  /// x null: makes the array of results, where there is none yet, in the order of `stream`.
  [[nodiscard]] PortionArguments arguments(const double* rhs, double* x, int* non_finite, cudaStream_t stream);
  [[nodiscard]] const Layout& layout() const { return layout_; }
  /// Values are found by the pattern that the layout was made of, which stays; each portion's rows are consecutive
  /// ones. What lists by row can be made again go. Waits for the device.
  void rely_on(const DevicePattern& pattern, Triangle triangle);
  /// Place → row, −1: idle; made again where it has gone, and kept then. Asynchronous.
  [[nodiscard]] const Index* rows_by_place(cudaStream_t stream);
  /// ReturnsValues::return_values().
  void write_values(double* entries, cudaStream_t stream) const;
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
  void keep_patterns(cudaStream_t stream);
  [[nodiscard]] UserRows view(const Elements& elements, bool of_x) const {
    return {elements.index.data(), elements.by_row ? by_row_.data() : nullptr, elements.run.data(), of_x};
  }

  void reserve_result(cudaStream_t stream);

  Layout layout_;
  std::optional<ConsecutiveRows> consecutive_;  ///< in place of the layout's rows and sources
  /// Portion by portion, a portion's in the order of by_row_. From the first load without pivots or the first solve
  /// that needs it on: a second sweep seldom does.
  cuda::DeviceArray<double> result_;
  mutable cuda::DeviceArray<Index> result_index_;  ///< by row; with consecutive_ made when it is first asked for
  cuda::DeviceArray<std::uint16_t>
      by_row_;  ///< rows of each portion in their own order, numbered from its first place; by place, as what follows
  Elements rhs_rows_;
  Elements x_rows_;
  cuda::DeviceArray<Index> outer_element_;  ///< of outer entries: where their operands are in x, from x_base; or kNone
  cuda::DeviceArray<double> pivot_;         ///< from the first load with pivots on
  bool unit_pivots_ = true;
};

}  // namespace taskdag::kernels::supersteps
