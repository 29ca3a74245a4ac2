/// \file
/// The pattern of a sequential PETSc matrix, in host memory.
#pragma once

#include "compat.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::petsc {

/// Lends the pattern; `nodes`: that of the graph of rows that PETSc has found to be alike.
/// @returns PETSC_ERR_SUP for a type of matrix that has none to lend
PetscErrorCode open_pattern(Mat matrix, PetscBool nodes, CsrPattern* pattern);
PetscErrorCode close_pattern(Mat matrix, PetscBool nodes, CsrPattern* pattern);

}  // namespace taskdag::petsc
