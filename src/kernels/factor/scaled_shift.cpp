#include "kernels/factor/scaled_shift.hpp"

#include <algorithm>
#include <cmath>

namespace taskdag::kernels {

namespace {
constexpr double kFirst = 1e-3;
constexpr double kGrowth = 10.0;
constexpr double kLargest = 1e3;
constexpr int kSteps = 2;
}  // namespace

bool ScaledShift::grow() {
  const double next = amount_ == 0.0 ? kFirst : kGrowth * amount_;
  // A little more than the largest: the amounts are rounded.
  if (next > 1.5 * kLargest) return false;
  amount_ = next;
  return true;
}

bool ScaledShift::again(bool failed) {
  if (last_) return false;
  if (failed) {
    low_ = amount_;
    if (high_ == 0.0) return grow();
  } else {
    if (amount_ == 0.0) return false;
    high_ = amount_;
  }
  if (steps_ == kSteps) {
    last_ = true;
    amount_ = high_;
    return failed;
  }
  ++steps_;
  amount_ = std::sqrt(std::max(low_, kFirst / kGrowth) * high_);
  return true;
}

}  // namespace taskdag::kernels
