/// \file
/// The null spaces that smoothers of PETSc's multigrid remove.
#pragma once

#include <vector>

#include "compat.hpp"
#include "mg/level.hpp"
#include "taskdag/cycle.hpp"

namespace taskdag::petsc {

/// By what it is told whether a null space is as it was: numbers of the object and of its vectors, and their states.
using NullSpaceSeen = std::vector<PetscInt64>;

/// Null: there is none.
PetscErrorCode look_at_null_space(MatNullSpace space, NullSpaceSeen* seen, const Refusal& refuse);

/// For a cycle on CUDA or not, of a level with so many rows. Arrays are the vectors' own.
PetscErrorCode bring_null_space(MatNullSpace space, bool cuda, PetscInt rows, CycleNullSpace* brought,
                                const Refusal& refuse);

}  // namespace taskdag::petsc
