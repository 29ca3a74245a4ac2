/// \file
/// The strategy of ShiftType::scaled: a small shift that works, relative to the diagonal, in few attempts.
/// Sources: Manteuffel 1980, An incomplete factorization technique for positive definite linear systems: the shift of a
/// matrix with unit diagonal. Lin & Moré 1999, Incomplete Cholesky factorizations with limited memory, section 2: the
/// first guess, and that it grows. What was measured for the constants is in docs/notes/icc-shift.md.
#pragma once

namespace taskdag::kernels {

/// The part of its diagonal entry that a pivot must keep.
inline constexpr double kLeastScaledPivot = 1e-6;

/// No shift first; then 0.001, ten times as much until it works, up to 1000; then two steps of bisection (of the
/// exponent) between what failed and what worked, and what worked once more if the last step failed. More steps would
/// not pay: close to the smallest shift that works a factor is a bad one.
class ScaledShift {
 public:
  static constexpr int kMostAttempts = 11;

  [[nodiscard]] double amount() const { return amount_; }

  /// Told whether the attempt with amount() met a bad pivot; returns whether to make another attempt.
  bool again(bool failed);

 private:
  bool grow();

  double amount_ = 0.0;
  double low_ = 0.0;   // failed
  double high_ = 0.0;  // worked; 0: nothing has yet
  int steps_ = 0;      // of bisection
  bool last_ = false;
};

}  // namespace taskdag::kernels
