/// \file
/// Status values: the second error tier, what a computation found out about its numbers. Never thrown.
#pragma once

#include "taskdag/csr.hpp"

namespace taskdag {

/// What a numerical factorisation reports.
enum class FactorOutcome {
  success,
  zero_pivot,  ///< |pivot| <= zero_pivot somewhere and no shift was asked for
  non_finite,  ///< a NaN or an infinity in the input or in the factor, without a zero pivot before it
  /// ShiftType::scaled: a diagonal entry of the matrix is zero or has another sign than the first one. No shift helps.
  not_definite,
};

/// Result of Factorization::factor. Rows are counted in the factor's own (permuted) numbering, as PETSc does.
struct FactorStatus {
  FactorOutcome outcome = FactorOutcome::success;
  Index first_row = -1;     ///< first row with what `outcome` says; -1 if none
  Index last_row = -1;      ///< last row with a zero pivot (what PETSc's MatFactor records); -1 if none
  double last_pivot = 0.0;  ///< absolute value of the pivot in last_row
  double shift_amount =
      0.0;         ///< what was added to every diagonal entry in the end (scaled: times it; not for inblocks)
  int shifts = 0;  ///< attempts restarted with a shift; for inblocks: shifted pivots
  [[nodiscard]] bool ok() const { return outcome == FactorOutcome::success; }
};

/// Result of the solves since the last time it was asked for.
enum class SolveOutcome {
  success,
  non_finite,  ///< some computed entry was a NaN or an infinity; the result holds it
};

}  // namespace taskdag
