/// \file
/// What couples a rank's rows to other ranks' columns.
#pragma once

#include "compat.hpp"
#include "mat/held.hpp"

namespace taskdag::petsc {

/// The part of a matrix on several ranks that lies outside their diagonal blocks, where PETSc lends it, and else null:
/// that of MATMPIAIJ, MATMPIBAIJ and what is derived of them. PETSc makes another one where columns join. `columns`:
/// what its columns, or its blocks of them, are in the matrix; may be null.
PetscErrorCode outside_part(Mat matrix, Mat* part, const PetscInt** columns);

/// The part B of a matrix on several ranks that lies outside the ranks' diagonal blocks.
class OffDiagonal {
 public:
  OffDiagonal() = default;
  OffDiagonal(const OffDiagonal&) = delete;
  OffDiagonal& operator=(const OffDiagonal&) = delete;
  ~OffDiagonal() = default;

  /// Takes a matrix, and forgets what was made for another one. After a change of its pattern: forget().
  PetscErrorCode attach(Mat matrix);

  /// Whether there are other ranks.
  [[nodiscard]] bool has_ranks() const { return ranks_ > 1; }

  /// *rest = b − B x, a vector of this object. Collective.
  /// @returns PETSC_ERR_SUP for a matrix whose part B PETSc does not lend: other than MATMPIAIJ, MATMPIBAIJ and what is
  /// derived of them
  PetscErrorCode residual(Vec b, Vec x, Vec* rest);

  /// Drops what was made for the matrix.
  PetscErrorCode forget();
  /// Drops the matrix, too.
  PetscErrorCode reset();

 private:
  PetscErrorCode make(Vec b, Vec x);
  PetscErrorCode subtract(Vec b);

  Held<Mat> matrix_;
  int ranks_ = 1;
  // From the first residual() on, as all below. A preconditioner may be kept while its matrix grows, and PETSc makes
  // another part then.
  Held<Mat> part_;
  Held<VecScatter> scatter_;
  Held<Vec> columns_;  ///< those of x that part_ has
  Held<Vec> local_b_;
  Held<Vec> local_rest_;
  Held<Vec> rest_;
};

}  // namespace taskdag::petsc
