/// \file
/// What a diagonal preconditioner of PETSc's multiplies by.
#pragma once

#include "compat.hpp"
#include "mat/arrays.hpp"
#include "mat/held.hpp"

namespace taskdag::petsc {

/// The elements, found by an application to ones: no sign of PETSc's says that they are others, so each use finds them.
class PcDiagonal {
 public:
  using Apply = PetscErrorCode (*)(PC, Vec, Vec);

  /// `like`: a vector of the system. Collective.
  PetscErrorCode find(PC pc, Vec like, Apply apply = PCApply);
  /// The array where the context works, valid until the next find(); null for none.
  PetscErrorCode elements(const Context& context, const double** array);
  [[nodiscard]] Vec vector() const { return diagonal_; }
  PetscErrorCode reset();

 private:
  Held<Vec> ones_;
  Held<Vec> diagonal_;
  Elements elements_;
};

}  // namespace taskdag::petsc
