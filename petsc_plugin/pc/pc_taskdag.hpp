/// \file
/// The preconditioner: -pc_type taskdag.
#pragma once

#include <petscpc.h>

#include <functional>

namespace taskdag::petsc {

struct Settings;

PetscErrorCode register_pc();

/// The settings of a PC of this type.
const Settings& settings_of(PC pc);

/// Puts other settings in the place of those. What was set up is kept as far as it does for them.
PetscErrorCode take_settings(PC pc, Settings&& settings);

/// The same with what `change` makes of a copy of those.
PetscErrorCode change_settings(PC pc, const std::function<void(Settings&)>& change);

}  // namespace taskdag::petsc
