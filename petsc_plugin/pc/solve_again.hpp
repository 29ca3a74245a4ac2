/// \file
/// A Krylov method that runs once more inside one KSPSolve().
#pragma once

#include "compat.hpp"

namespace taskdag::petsc {

/// A copy of what `ksp` is about to start from, null where that is zero; to be destroyed by the caller.
PetscErrorCode copy_guess(KSP ksp, Vec* guess);

/// Lets the method of `ksp` run anew from `guess` (null: from zero), with what its preconditioner is now. To be called
/// by what PCPostSolve() calls, after a run that has failed: iterations, reason, residual history and solution are
/// those of the second run then, and the total number of iterations that of both. Monitors see both. Collective.
PetscErrorCode solve_again(KSP ksp, Vec guess);

}  // namespace taskdag::petsc
