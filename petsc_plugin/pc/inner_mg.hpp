/// \file
/// The multigrid preconditioner of PETSc's that a PC of -pc_taskdag_type mg has inside.
#pragma once

#include "compat.hpp"
#include "settings.hpp"

namespace taskdag::petsc {

/// The PC inside is composed with the PC under this name, so that it goes with it.
inline constexpr auto kInnerMg = "TaskDAGMG";

/// What is known of it.
struct InnerMg {
  bool given = false;          ///< it is the application's, whose options and type are left alone
  MgType type = MgType::gamg;  ///< that it was given last by a setting
  PetscInt options_of = 0;     ///< how often the options of the PC had been read when its own were
  [[nodiscard]] bool reads(PC pc) const { return !given && options_of != pc->setfromoptionscalled; }
};

/// Of a PC of type taskdag; where there is none, one is made.
PetscErrorCode get_inner_mg(PC pc, PC* inner);
/// Takes that of an application; null: one of our own.
PetscErrorCode set_inner_mg(PC pc, PC inner);

/// Before its set-up: gives it what the PC has, and lets it read its options where the PC has read its own.
PetscErrorCode prepare_inner_mg(PC pc, PC* inner);

/// Lets one of our own forget what was set up. Nothing where there is none.
PetscErrorCode reset_inner_mg(PC pc);

/// When the PC gets its type, and when it loses it.
PetscErrorCode compose_inner_mg(PC pc, bool present);

}  // namespace taskdag::petsc
