/// \file
/// The factorisation package: -pc_factor_mat_solver_type taskdag.
#pragma once

#include <petscmat.h>

namespace taskdag::petsc {

/// Registers the package for ILU and ICC of sequential AIJ matrices, on host and device, and of BAIJ ones, and
/// ICC of SBAIJ ones.
PetscErrorCode register_mat_factor();

}  // namespace taskdag::petsc
