/// \file
/// PETSc's SOR as a smoother's preconditioner: the library's sweeps with its settings, on several ranks through each
/// rank's own rows.
#pragma once

#include "compat.hpp"
#include "mg/level.hpp"
#include "pc/stand_in.hpp"
#include "settings.hpp"

namespace taskdag::petsc {

/// Of a PCSOR. `known`: PETSc's data is what it is taken for; the shift counts only then.
PetscErrorCode read_sor(PC pc, SorSettings* settings, bool* known);

/// Reads the settings. PETSc sweeps by rows with them, or refuse() is called.
PetscErrorCode look_at_sor(PC pc, SorSettings* seen, const Refusal& refuse);

/// Brings the same sweeps of ours, on a rank that has rows. ArrayUse::backend is null where a diagonal entry cannot be
/// divided by.
PetscErrorCode bring_sor(PC pc, Backend backend, StandIn* stand_in, ArrayUse* use);

}  // namespace taskdag::petsc
