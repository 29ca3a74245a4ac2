/// \file
/// What sweeps need to end a product with (E + L)⁻¹ A (E + U)⁻¹ (JoinsProducts::finish_product()), and the passes over
/// vectors for sweeps that cannot. Source: S. C. Eisenstat 1981.
///
/// Arrays in device memory; every function is asynchronous on `stream`.
#pragma once

#include <cuda_runtime_api.h>

#include "backends/cuda/memory.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels {

/// What a kernel needs for it. A *place* is what the schedule numbers its rows by.
struct ProductArguments {
  const double* middle = nullptr;      ///< by place
  const double* scale = nullptr;       ///< by place; null: 1
  const Index* first_index = nullptr;  ///< place → entry of `first`
  const double* first = nullptr;       ///< result of the sweep before
  double share = 1.0;
  double* y = nullptr;
  bool operator==(const ProductArguments&) const = default;
};

/// ProductRows and the result of the sweep before, by place.
class ProductOperands {
 public:
  /// row: place → row, below 0 where there is none. @returns whether `first` is another one than before
  bool prepare(const Sweep& first, const ProductRows& rows, Index places, const Index* row, cudaStream_t stream);
  [[nodiscard]] ProductArguments arguments(double* y) const {
    return {
        middle_.data(), scale_.size() > 0 ? scale_.data() : nullptr, first_index_.data(), first_->result(), share_, y};
  }
  [[nodiscard]] bool ready() const { return first_ != nullptr; }
  [[nodiscard]] const Index* first_index() const { return first_index_.data(); }
  [[nodiscard]] std::int64_t bytes() const { return middle_.bytes() + scale_.bytes() + first_index_.bytes(); }

 private:
  const Sweep* first_ = nullptr;
  double share_ = 1.0;
  cuda::DeviceArray<double> middle_;
  cuda::DeviceArray<double> scale_;  ///< empty: 1
  cuda::DeviceArray<Index> first_index_;
};

/// middle_i = 2 e_i − d[order ? order[i] : i], scale_i = 1 / e_i; e may be `scale`. scale null: middle_i / e_i, of a
/// system that is scaled by E^½ from both sides.
void product_rows(Index n, const double* e, const double* d, const Index* order, double* middle, double* scale,
                  cudaStream_t stream);
/// What finish_product() does before its solve: right[o] = v[o] − middle_i · u_i with o = order ? order[i] : i.
void product_right(Index n, const ProductRows& rows, const Index* order, const double* v, const Sweep& first,
                   double* right, cudaStream_t stream);
/// And after it: y[o] = u_i + scale_i · (what `second` has made of row i).
void product_sum(Index n, const ProductRows& rows, const Index* order, const Sweep& first, const Sweep& second,
                 double* y, int* non_finite, cudaStream_t stream);

}  // namespace taskdag::kernels
