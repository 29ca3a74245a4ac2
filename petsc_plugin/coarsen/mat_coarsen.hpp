/// \file
/// The type `taskdag` of PETSc's MatCoarsen, which GAMG makes its levels by.
#pragma once

#include "compat.hpp"

namespace taskdag::petsc {

PetscErrorCode register_coarsen();

}  // namespace taskdag::petsc
