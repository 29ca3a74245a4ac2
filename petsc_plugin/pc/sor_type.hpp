/// \file
/// -pc_taskdag_type sor: SOR and SSOR with the meaning that PETSc's PCSOR gives them.
#pragma once

#include "compat.hpp"
#include "settings.hpp"
#include "taskdag/factorization.hpp"
#include "taskdag/sor.hpp"

namespace taskdag::petsc {

/// PETSc's own setters and getters, PCSORSetOmega() and so on, reach this preconditioner as well.
PetscErrorCode compose_sor_setters(PC pc, bool present);

/// The sweep that PETSc's flags ask for, whether of each rank's own rows or of all.
SorSweep to_sweep(MatSORType type);

/// Sweeps of each rank's rows in so many iterations of the preconditioner; too many are an error, of `comm`.
PetscErrorCode count_sor_sweeps(const SorSettings& settings, PetscInt iterations, MPI_Comm comm, PetscInt* count);

/// Prints sweep and parameters.
PetscErrorCode view_sor(PetscViewer viewer, const SorSettings& settings);

/// The error for a transposed application, but where it is the application: as PETSc's, of a symmetric sweep and a
/// matrix that is known to be symmetric.
PetscErrorCode check_transposed_sor(Apply part, MatSORType sweep, Mat whole);

}  // namespace taskdag::petsc
