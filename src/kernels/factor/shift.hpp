/// \file
/// The shift strategies around a factorisation: which amount the next attempt adds to the diagonal.
/// Follows PETSc's MatPivotCheck_nz, MatPivotCheck_pd and MatPivotRefine (matimpl.h), and for scaled ScaledShift.
#pragma once

#include "kernels/factor/pivot.hpp"
#include "kernels/factor/scaled_shift.hpp"
#include "taskdag/factorization.hpp"

namespace taskdag::kernels {

/// What pivots are held against under these options.
PivotRule pivot_rule(const FactorOptions& options);

/// Drives the attempts: `do { run(shift()) } while (again(failed))`.
class ShiftStrategy {
 public:
  /// `dominance`: max over the rows of Σ|a_ij| − |a_ii| − a_ii, read for positive_definite only.
  ShiftStrategy(const FactorOptions& options, double dominance);

  /// Added to each diagonal entry in the next attempt (scaled: times the entry).
  [[nodiscard]] double amount() const { return amount_; }
  [[nodiscard]] DiagonalShift shift() const { return {amount_, options_.shift == ShiftType::scaled}; }
  [[nodiscard]] int shifts() const { return shifts_; }

  /// Told whether the attempt with amount() met a bad pivot; returns whether to make another attempt.
  /// The nonzero strategy doubles without bound in PETSc; here it gives up once the amount is not finite.
  bool again(bool failed);

 private:
  FactorOptions options_;
  ScaledShift scaled_;
  double amount_ = 0.0;
  double top_ = 0.0;
  double fraction_ = 0.0;
  double low_ = 0.0;
  double high_ = 1.0;
  int shifts_ = 0;
};

}  // namespace taskdag::kernels
