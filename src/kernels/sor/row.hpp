/// \file
/// The arithmetic of one row of an SOR sweep, for all executors.
#pragma once

#include "base/macros.hpp"
#include "taskdag/sor.hpp"

namespace taskdag::kernels {

/// The diagonal that sweeps divide by, D + shift, by PETSc's rule: with ω = 1 a shift below 0 is left out.
TASKDAG_HD double shifted_diagonal(double diagonal, double omega, double shift) {
  return omega == 1.0 && shift <= 0.0 ? diagonal : diagonal + shift;
}

/// What a row of a sweep needs beside its entries. With d = D + shift and E = d / ω:
struct SorRow {
  double diagonal;  ///< d
  double omega;

  /// 1 / E
  [[nodiscard]] TASKDAG_HD double inverse() const { return omega / diagonal; }
  /// The right-hand side that goes with x_old, before the sum over the other triangle: b + (E − d) x.
  [[nodiscard]] TASKDAG_HD double start(double b, double x) const { return b + (1.0 / omega - 1.0) * diagonal * x; }
  /// The right-hand side of the sweep that comes after one the other way round. That one has solved
  /// (E + T) x = rhs for its triangle T, so T x = rhs − E x, and b − T x − (d − E) x is
  [[nodiscard]] TASKDAG_HD double next(double b, double rhs, double x) const {
    return b - rhs + (2.0 / omega - 1.0) * diagonal * x;
  }
};

}  // namespace taskdag::kernels
