/// \file
/// The preconditioner: -pc_type taskdag.
#pragma once

#include <petscpc.h>

namespace taskdag::petsc {

struct Settings;

PetscErrorCode register_pc();

/// The settings of a PC of this type.
const Settings& settings_of(PC pc);

/// Puts other settings in the place of those. What was set up is kept as far as it does for them.
PetscErrorCode take_settings(PC pc, Settings&& settings);

/// Drops what was set up: the next PCSetUp() starts from nothing.
PetscErrorCode start_over(PC pc);

}  // namespace taskdag::petsc
