/// \file
/// -pc_taskdag_type jacobi: damped Jacobi sweeps; those with blocks are in block_jacobi_type.hpp.
#pragma once

#include "settings.hpp"

namespace taskdag::petsc {

/// Refuses settings of Jacobi sweeps that exclude each other; for auto, too, which may come to Jacobi late.
PetscErrorCode check_jacobi_sweeps(const Settings& settings);

/// PETSc's own setters and getters, PCJacobiSetType() and so on, reach this preconditioner as well.
PetscErrorCode compose_jacobi_setters(PC pc, bool present);

}  // namespace taskdag::petsc
