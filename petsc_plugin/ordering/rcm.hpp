/// \file
/// The ordering `taskdag_rcm`: on the GPU, from the device's arrays, where the matrix lies there; else on host threads.
#pragma once

#include <petscmat.h>

namespace taskdag::petsc {

PetscErrorCode register_ordering();

}  // namespace taskdag::petsc
