/// \file
/// The ordering `taskdag_rcm`.
#pragma once

#include <petscmat.h>

namespace taskdag::petsc {

PetscErrorCode register_ordering();

}  // namespace taskdag::petsc
