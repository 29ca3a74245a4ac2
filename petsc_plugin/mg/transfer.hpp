/// \file
/// An interpolation or restriction of PETSc's as a matrix with entries.
#pragma once

#include "compat.hpp"
#include "mat/held.hpp"
#include "mat/operand.hpp"
#include "mg/level.hpp"

namespace taskdag::petsc {

/// From one level to the next. PETSc multiplies by what it is given or by the transpose of it, as the shape says, and
/// has types that stand for one entry many times (MATMAIJ).
class Transfer {
 public:
  /// Whether PETSc's type is one that can be read.
  static PetscErrorCode check(Mat given, const Refusal& refuse);
  /// Takes pattern and values as they are now, for a product with so many rows.
  PetscErrorCode take(Mat given, PetscInt rows);
  /// The matrix to read.
  [[nodiscard]] Mat matrix() const { return matrix_; }
  [[nodiscard]] Operand& operand() { return operand_; }
  PetscErrorCode reset();

 private:
  PetscErrorCode write_out(Mat given, const MatState& now);
  PetscErrorCode transpose(const MatState& now);

  MatState of_;  ///< what was given, when it was taken
  Held<Mat> matrix_;
  Held<Mat> written_;  ///< its entries, where its type does not have them
  Held<Mat> transpose_;
  Operand operand_;
};

}  // namespace taskdag::petsc
