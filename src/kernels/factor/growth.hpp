/// \file
/// The growth of a factor, Factorization::growth(): an element of it, and a bound that its rows give.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/handover.hpp"
#include "base/hash.hpp"
#include "base/macros.hpp"

namespace taskdag::kernels {

/// The square root of a diagonal entry's absolute value; 1 for one that is 0 and says nothing about its row.
TASKDAG_HD double growth_weight(double diagonal) {
  const double size = diagonal < 0 ? -diagonal : diagonal;
  return size > 0 ? sqrt(size) : 1.0;
}

/// Element i of the vector whose growth is measured: between ½ and 1, without a pattern, the same on all backends. Of
/// (1, …, 1) a nearly singular block (1 1; 1 1) makes nothing that shows.
TASKDAG_HD double growth_element(Index i) { return 1.0 - 0x1p-54 * static_cast<double>(hash_of_entry(i, i) >> 11U); }

/// |weight · value|, infinite where that is not finite.
TASKDAG_HD double weighted_size(double weight, double value) {
  const double product = weight * value;
  if (!is_finite(product)) return HUGE_VAL;
  return product < 0 ? -product : product;
}

/// What rows that were factored say of the growth. If Σ|l_ij| ≤ 1 in each row of L, and Σ|u_ij| ≤ |u_ii| in each of U,
/// no element of L⁻¹ is above 1, nor one of (D⁻¹ U)⁻¹, as induction over the rows shows; of Uᵀ D U the second alone is
/// asked. Then ‖D_A^½ M⁻¹ D_A^½ e‖∞ ≤ n² · max|a_ii| / min|u_ii|. Rows of matrices whose diagonal dominates are such.
class GrowthBound {
 public:
  /// `diagonal`: of the matrix; `lower`, `upper`: the sums.
  void note_row(double lower, double upper, double diagonal, double pivot) {
    const double size = std::abs(pivot);
    // Not the other way round: a NaN bounds nothing.
    bounded_ = bounded_ && lower <= kOne && upper <= kOne * size && diagonal != 0.0;
    largest_ = std::max(largest_, std::abs(diagonal));
    smallest_ = std::min(smallest_, size);
  }
  void merge(const GrowthBound& other) {
    bounded_ = bounded_ && other.bounded_;
    largest_ = std::max(largest_, other.largest_);
    smallest_ = std::min(smallest_, other.smallest_);
  }
  /// Infinite where there is none.
  [[nodiscard]] double of(double rows) const {
    return bounded_ ? rows * rows * (largest_ / smallest_) : std::numeric_limits<double>::infinity();
  }

 private:
  /// Rows where the sum is 1 have a rounded one. What that adds to the bound: a factor of (1 + 1e-12)^n, twice.
  static constexpr double kOne = 1.0 + 1e-12;
  bool bounded_ = true;
  double largest_ = 0.0;                                       ///< |a_ii|
  double smallest_ = std::numeric_limits<double>::infinity();  ///< |u_ii|
};

}  // namespace taskdag::kernels
