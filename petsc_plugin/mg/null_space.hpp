/// \file
/// The null spaces that smoothers of PETSc's multigrid remove.
#pragma once

#include <deque>
#include <vector>

#include "compat.hpp"
#include "mat/held.hpp"
#include "mg/level.hpp"
#include "taskdag/cycle.hpp"

namespace taskdag::petsc {

/// By what it is told whether a null space is as it was: numbers of the object and of its vectors, and their states.
using NullSpaceSeen = std::vector<PetscInt64>;

/// Null: there is none.
PetscErrorCode look_at_null_space(MatNullSpace space, NullSpaceSeen* seen, const Refusal& refuse);

/// Vectors in place of those that lie in another memory than the cycle: as users have them whose matrix alone is on a
/// GPU. Null: the vector itself serves.
using NullSpaceCopies = std::deque<Held<Vec>>;  // holders stay where they are

/// For a cycle on CUDA or not, of a level with so many rows, whose operator is `a`. Arrays are the vectors' own, or
/// those of copies.
PetscErrorCode bring_null_space(MatNullSpace space, Mat a, bool cuda, PetscInt rows, NullSpaceCopies* copies,
                                CycleNullSpace* brought, const Refusal& refuse);

}  // namespace taskdag::petsc
