/// \file
/// The preconditioner: -pc_type taskdag.
#pragma once

#include <petscpc.h>

namespace taskdag::petsc {

struct Settings;

PetscErrorCode register_pc();

/// The settings of a PC of this type. After a change other than to FactorSettings::reuse_ordering call start_over().
Settings& settings_of(PC pc);

/// Drops what was set up: the next PCSetUp() starts from nothing.
PetscErrorCode start_over(PC pc);

}  // namespace taskdag::petsc
