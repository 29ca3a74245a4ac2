/// \file
/// A smoother of PETSc's multigrid as steps of the library's.
#pragma once

#include <vector>

#include "compat.hpp"
#include "mg/level.hpp"
#include "taskdag/cycle.hpp"

namespace taskdag::petsc {

/// Sets the KSP up, as PETSc's solve would begin, and reads its steps. `from_solution`: it may be asked to go on from
/// another solution than zero.
PetscErrorCode read_smoother(KSP ksp, bool from_solution, std::vector<SmootherStep>* steps, const Refusal& refuse);

/// Whether it applies its preconditioner once, and does nothing else: KSPPREONLY.
PetscErrorCode applies_once(KSP ksp, bool* once);

}  // namespace taskdag::petsc
