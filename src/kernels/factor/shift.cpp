#include "kernels/factor/shift.hpp"

#include <algorithm>

#include "base/handover.hpp"

namespace taskdag::kernels {

namespace {
constexpr int kMostRefinements = 5;
}

PivotRule pivot_rule(const FactorOptions& options) {
  const bool scaled = options.shift == ShiftType::scaled;
  const double zero_pivot = scaled ? std::max(options.zero_pivot, kLeastScaledPivot) : options.zero_pivot;
  return {options.shift, zero_pivot, options.shift_amount};
}

ShiftStrategy::ShiftStrategy(const FactorOptions& options, double dominance)
    : options_(options), top_(1.1 * std::max(options.zero_pivot, dominance)) {}

bool ShiftStrategy::again(bool failed) {
  if (options_.shift == ShiftType::nonzero) {
    if (!failed) return false;
    const double next = shifts_ == 0 ? options_.shift_amount : 2 * amount_;
    if (next == 0.0 || !is_finite(next)) return false;
    amount_ = next;
  } else if (options_.shift == ShiftType::positive_definite) {
    if (failed) {
      if (shifts_ > kMostRefinements) return false;
      if (shifts_ == kMostRefinements) {
        fraction_ = high_;
      } else {
        low_ = fraction_;
        fraction_ = (high_ + low_) / 2;
      }
    } else {
      // Refinement: the amount suffices, try a smaller one. PETSc does so for LU, not for Cholesky.
      if (options_.kind != FactorKind::ilu || fraction_ <= 0 || shifts_ >= kMostRefinements) return false;
      high_ = fraction_;
      fraction_ = (high_ + low_) / 2;
    }
    amount_ = fraction_ * top_;
  } else if (options_.shift == ShiftType::scaled) {
    if (!scaled_.again(failed)) return false;
    amount_ = scaled_.amount();
  } else {
    return false;
  }
  ++shifts_;
  return true;
}

}  // namespace taskdag::kernels
