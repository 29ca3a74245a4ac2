/// \file
/// The preconditioner: -pc_type taskdag.
#pragma once

#include <petscpc.h>

namespace taskdag::petsc {

PetscErrorCode register_pc();

}  // namespace taskdag::petsc
