/// \file
/// Eisenstat's trick: the two sweeps of an application in turn, the second one first.
#pragma once

#include <span>
#include <vector>

#include "csr/gather.hpp"
#include "kernels/sptrsv/product.hpp"
#include "solver/cuda/sweep_pair.hpp"

namespace taskdag::cuda {

/// y = (E + L)⁻¹ A (E + U)⁻¹ v for A = L + D + U: with u = (E + U)⁻¹ v it is u + (E + L)⁻¹ (v − (2 E − D) u). Two
/// launches where both schedules take what goes between them (JoinsProducts); a pass over vectors more where
/// the second one does not, two more where the first one does not.
class SweepProduct {
 public:
  struct Rows {
    Index rows = 0;
    const Index* order = nullptr;  ///< row → entry of the user's vectors; null: the same
    double share = 1.0;            ///< the second sweep solves with (E + U) · share
    bool scaled = false;           ///< the sweeps are those of a system scaled by E^½ from both sides: E = I in them
  };

  /// For each change of values. pivots: E, by row; diagonal: D, in the user's numbering; device memory. retired: other
  /// pairs that were captured. Allocates and synchronises `s` at the first call for these sweeps.
  void take(const SweepPair& sweeps, std::span<const SweepPair> retired, const Rows& rows, const double* pivots,
            const double* diagonal, cudaStream_t s) {
    rows_ = rows;
    const auto size = static_cast<std::size_t>(rows.rows);
    if (diagonal_.size() == 0) diagonal_ = {size, s};
    if (diagonal != diagonal_.data()) copy_on_device(diagonal_.data(), diagonal, size, s);
    if (sweeps.first.can().joins_products == nullptr && scale_.size() == 0) {
      right_ = {size, s};
      middle_ = {size, s};
      scale_ = {size, s};
    }
    if (sweeps.second.can().joins_products == nullptr) {
      const std::size_t extent = cuda::extent(sweeps.first->result_index(), rows.rows, s);
      if (between_.size() < extent) {
        if (between_.size() > 0) retired_.push_back(std::move(between_));
        between_ = {extent, s};
      }
    }
    // Kept where passes need them, also for graphs of retired sweeps.
    const bool keeps = scale_.size() > 0;
    const ScratchArray<double> scratch_middle(keeps ? 0 : size, s);
    const ScratchArray<double> scratch_scale(keeps ? 0 : size, s);
    double* const middle = keeps ? middle_.data() : scratch_middle.data();
    double* const scale = keeps ? scale_.data() : scratch_scale.data();
    kernels::product_rows(rows.rows, pivots, diagonal, rows.order, middle, rows.scaled ? nullptr : scale, s);
    const kernels::ProductRows taken{middle, rows.scaled ? nullptr : scale, rows.share};
    prepare(sweeps, taken, s);
    for (const SweepPair& pair : retired) prepare(pair, taken, s);
  }

  /// For sweeps that have replaced others, with the diagonal of the last take().
  void take_again(const SweepPair& sweeps, std::span<const SweepPair> retired, const double* pivots, cudaStream_t s) {
    take(sweeps, retired, Rows(rows_), pivots, diagonal_.data(), s);
  }

  void run(const SweepPair& sweeps, const double* v, double* y, int* non_finite, cudaStream_t s) const {
    const ChosenSweep& lower = sweeps.first;
    const ChosenSweep& upper = sweeps.second;
    if (kernels::JoinsProducts* const begins = upper.can().joins_products) {
      begins->begin_product(v, non_finite, s);
    } else {
      kernels::move_scaled(rows_.rows, v, rows_.order, nullptr, lower->result_index(), between_.data(), s);
      upper->solve(between_.data(), nullptr, non_finite, s);
    }
    if (kernels::JoinsProducts* const ends = lower.can().joins_products) {
      ends->finish_product(v, y, non_finite, s);
      return;
    }
    kernels::product_right(rows_.rows, known_rows(), rows_.order, v, *upper.sweep, right_.data(), s);
    lower->solve(right_.data(), nullptr, non_finite, s);
    kernels::product_sum(rows_.rows, known_rows(), rows_.order, *upper.sweep, *lower.sweep, y, non_finite, s);
  }

  [[nodiscard]] std::int64_t bytes() const {
    std::int64_t bytes = middle_.bytes() + scale_.bytes() + right_.bytes() + between_.bytes() + diagonal_.bytes();
    for (const DeviceArray<double>& array : retired_) bytes += array.bytes();
    return bytes;
  }

 private:
  static void prepare(const SweepPair& sweeps, const kernels::ProductRows& rows, cudaStream_t s) {
    if (kernels::JoinsProducts* const ends = sweeps.first.can().joins_products)
      ends->prepare_product(*sweeps.second.sweep, rows, s);
  }
  [[nodiscard]] kernels::ProductRows known_rows() const {
    return {middle_.data(), rows_.scaled ? nullptr : scale_.data(), rows_.share};
  }

  Rows rows_;
  DeviceArray<double> diagonal_;  ///< D, in the user's numbering
  DeviceArray<double> middle_;    ///< by row: 2 E − D; this and the next two where passes need them
  DeviceArray<double> scale_;     ///< by row: E⁻¹
  DeviceArray<double> right_;     ///< of the first sweep, in the user's numbering
  DeviceArray<double> between_;   ///< right-hand side of the second sweep
  std::vector<DeviceArray<double>> retired_;
};

}  // namespace taskdag::cuda
