/// \file
/// The null spaces that smoothers of PETSc's multigrid remove.
#pragma once

#include <vector>

#include "compat.hpp"
#include "mg/level.hpp"
#include "taskdag/context.hpp"
#include "taskdag/cycle.hpp"
#include "taskdag/engine/memory.hpp"

namespace taskdag::petsc {

/// By what it is told whether a null space is as it was: numbers of the object and of its vectors, and their states.
using NullSpaceSeen = std::vector<PetscInt64>;

/// Null: there is none.
PetscErrorCode look_at_null_space(MatNullSpace space, NullSpaceSeen* seen, const Refusal& refuse);

/// In place of vectors that lie in another memory than the cycle.
using NullSpaceCopies = std::vector<engine::Array<double>>;

/// For a cycle of a level with so many rows. Arrays are the vectors' own, or those of copies.
PetscErrorCode bring_null_space(MatNullSpace space, const Context& context, PetscInt rows, NullSpaceCopies* copies,
                                CycleNullSpace* brought, const Refusal& refuse);

}  // namespace taskdag::petsc
