/// \file
/// The KSP types taskdag_cg and so on, and PETSc's own of the same methods, which -taskdag_ksp lets ours take over.
#pragma once

#include <petscksp.h>

namespace taskdag::petsc {

PetscErrorCode register_ksp();

}  // namespace taskdag::petsc
