/// \file
/// What a diagonal preconditioner of PETSc's multiplies by.
#pragma once

#include "compat.hpp"
#include "mat/held.hpp"

namespace taskdag::petsc {

/// The elements, found by an application to ones: no sign of PETSc's says that they are others, so each use finds them.
class PcDiagonal {
 public:
  using Apply = PetscErrorCode (*)(PC, Vec, Vec);

  /// `like`: a vector of the system. Collective.
  PetscErrorCode find(PC pc, Vec like, Apply apply = PCApply);
  /// The array, valid until the next find(); null where it is not in device memory although `cuda`, or the other way
  /// round.
  PetscErrorCode elements(bool cuda, const double** array) const;
  [[nodiscard]] Vec vector() const { return diagonal_; }
  PetscErrorCode reset();

 private:
  Held<Vec> ones_;
  Held<Vec> diagonal_;
};

}  // namespace taskdag::petsc
