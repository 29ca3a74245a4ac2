/// \file
/// -pc_taskdag_type sor: SOR and SSOR with the meaning that PETSc's PCSOR gives them.
#pragma once

#include <petscpc.h>

namespace taskdag::petsc {

/// PETSc's own setters and getters, PCSORSetOmega() and so on, reach this preconditioner as well.
PetscErrorCode compose_sor_setters(PC pc, bool present);

}  // namespace taskdag::petsc
