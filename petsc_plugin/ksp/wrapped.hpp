/// \file
/// A KSP of PETSc's whose solve may be ours.
#pragma once

#include "across/reason.hpp"
#include "compat.hpp"
#include "ksp/loop.hpp"
#include "ksp/plan.hpp"
#include "ksp/setters.hpp"

namespace taskdag::petsc {

/// What travels with such a KSP until it gets another type.
struct Wrapped {
  const Method* method = nullptr;
  bool named = false;                              ///< its type is ours, not PETSc's
  _KSPOps theirs{};                                ///< PETSc's operations
  decltype(_KSPOps::solve) first_solve = nullptr;  ///< PETSc's by its constructor; null: found at set-up
  SetterCalls setters;
  KspLoop loop;
  KspLoop of_columns;       ///< of KSPMatSolve()
  bool ours = false;        ///< the last solve was
  bool together = false;    ///< that of the last KSPMatSolve(), of several columns
  Reason why_not;           ///< it was not; given only where it was asked for
  Reason why_not_together;  ///< the last KSPMatSolve() was by one column after the other

  PetscErrorCode reset() {
    PetscFunctionBegin;
    PetscCall(loop.reset());
    PetscCall(of_columns.reset());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/// Null for a KSP of another type, and for one that got its type before the plugin was there.
PetscErrorCode find_wrapped(KSP ksp, Wrapped** wrapped);

/// Of a KSP with operations of ours.
PetscErrorCode wrapped_of(KSP ksp, Wrapped** wrapped);

}  // namespace taskdag::petsc
