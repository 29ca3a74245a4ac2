/// \file
/// PETSc's multigrid preconditioners with cycles of the library's: PETSc sets the hierarchy up, TaskDAG applies it. Off
/// unless asked for.
#pragma once

#include "compat.hpp"
#include "settings.hpp"

namespace taskdag::petsc {

/// Whether PETSc's mg, gamg and hmg that are set up from now on are applied by us. An option -taskdag_mg counts more.
void use_mg(bool use);

/// Sets such a PC up, with a cycle of ours whatever else asks for one, which works as the settings say. An error for a
/// PC of another type.
PetscErrorCode set_up_with_cycle(PC pc, const BackendSettings& settings);
/// Drops that cycle. Nothing for a PC of another type.
PetscErrorCode drop_cycle(PC pc);

/// PETSc's constructors of these types are called by ours from now on. At registration.
PetscErrorCode register_mg();

}  // namespace taskdag::petsc
