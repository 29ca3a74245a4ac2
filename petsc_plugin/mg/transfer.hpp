/// \file
/// An interpolation or restriction of PETSc's as a matrix with entries.
#pragma once

#include "compat.hpp"
#include "mat/held.hpp"
#include "mg/level.hpp"
#include "mg/rank_matrix.hpp"

namespace taskdag::petsc {

/// From one level to the next. PETSc multiplies by what it is given or by the transpose of it, as the shape says, and
/// has types that stand for one entry many times (MATMAIJ).
class Transfer {
 public:
  /// Whether PETSc's type is one that can be read.
  static PetscErrorCode check(Mat given, const Refusal& refuse);
  /// Takes pattern and values as they are now, for a product with so many rows. Collective.
  PetscErrorCode take(Mat given, PetscInt rows, RankMatrix::Reach reach);
  /// The matrix to read.
  [[nodiscard]] Mat matrix() const { return matrix_; }
  [[nodiscard]] RankMatrix& on_rank() { return on_rank_; }
  PetscErrorCode reset();

 private:
  PetscErrorCode write_out(Mat given, const MatState& now);
  PetscErrorCode transpose(const MatState& now);

  MatState of_;  ///< what was given, when it was taken
  Held<Mat> matrix_;
  Held<Mat> written_;  ///< its entries, where its type does not have them
  Held<Mat> transpose_;
  RankMatrix on_rank_;
};

}  // namespace taskdag::petsc
