/// \file
/// What the solver of the coarsest level does, as a dense matrix.
#pragma once

#include <vector>

#include "compat.hpp"
#include "mg/level.hpp"
#include "taskdag/context.hpp"
#include "taskdag/engine/memory.hpp"

namespace taskdag::petsc {

/// The inverse of the coarsest operator, found by PETSc's solver: linear, since it applies a preconditioner once.
class CoarseInverse {
 public:
  /// Above, the inverse takes longer to be found and to be multiplied by than a solve takes.
  static constexpr PetscInt most_rows = 1000;

  /// Solves for the columns of the identity, by the solver of a PCMG's coarsest level. An inverse of an operator that
  /// is singular or nearly so would lose the digits that a solve keeps. Where the vectors that make it so are removed
  /// on the finest level, as what is interpolated of them, it is the pseudo-inverse without them; else it is refused,
  /// and on several ranks in any case. There each gets all of it. Collective.
  PetscErrorCode find(PC mg, const Context& context, const Refusal& refuse);
  /// Row by row, in memory of the context.
  [[nodiscard]] const double* elements() const { return static_cast<const double*>(inverse_.data()); }
  PetscErrorCode reset();

 private:
  static PetscErrorCode solve(KSP solver, std::vector<double>* inverse, bool* failed);
  static PetscErrorCode find_rows(KSP solver, std::vector<double>* inverse, bool* failed);
  static PetscErrorCode measure(KSP solver, std::vector<double>* inverse, double* growth);
  static PetscErrorCode leave_null_space_out(PC mg, std::vector<double>* inverse, double* growth);

  engine::Memory inverse_;
  int device_ = -1;
};

}  // namespace taskdag::petsc
