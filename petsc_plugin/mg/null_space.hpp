/// \file
/// The null spaces that smoothers of PETSc's multigrid remove.
#pragma once

#include <vector>

#include "compat.hpp"
#include "mat/arrays.hpp"
#include "mg/gather.hpp"
#include "mg/level.hpp"
#include "taskdag/context.hpp"
#include "taskdag/cycle.hpp"

namespace taskdag::petsc {

/// By what it is told whether a null space is as it was: numbers of the object and of its vectors, and their states.
using NullSpaceSeen = std::vector<PetscInt64>;

/// Null: there is none.
PetscErrorCode look_at_null_space(MatNullSpace space, NullSpaceSeen* seen, const Refusal& refuse);

/// Of a vector, where the cycle works: this rank's elements or, where each rank has the level as a whole, all.
struct NullSpaceElements {
  Elements own;
  WholeElements all;
};

/// For a cycle of a level with so many rows on this rank, all of several ranks' where it is `whole`. Collective.
PetscErrorCode bring_null_space(MatNullSpace space, const Context& context, PetscInt rows, bool whole,
                                std::vector<NullSpaceElements>* elements_of, CycleNullSpace* brought,
                                const Refusal& refuse);

}  // namespace taskdag::petsc
