/// \file
/// What the functions of taskdagpetsc.h have in common. Setters go the way of options, so that both take the same
/// values and complain alike.
#pragma once

#include <utility>

#include "pc/pc_taskdag.hpp"
#include "pc/types.hpp"
#include "taskdagpetsc.h"

namespace taskdag::petsc {

/// Whether the PC is one of this type.
PetscErrorCode is_ours(PC pc, bool* ours);

// Each sets the option `name` (with its dash, without prefix) of a PC of this type, of no other.
PetscErrorCode set_option(PC pc, const char* name, const char* value);
PetscErrorCode set_option(PC pc, const char* name, PetscInt value);
PetscErrorCode set_option(PC pc, const char* name, PetscReal value);
PetscErrorCode set_option(PC pc, const char* name, PetscBool value);

/// change_settings() for a PC of this type, for no other, where no option has that value.
template <class Change>
PetscErrorCode change_if_ours(PC pc, const Change& change) {
  PetscFunctionBegin;
  bool ours = false;
  PetscCall(is_ours(pc, &ours));
  if (ours) PetscCall(change_settings(pc, change));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Hands out a setting. @returns PETSC_ERR_ARG_WRONG for a PC of another type, PETSC_ERR_ARG_NULL without a place
template <class Value, class Read>
PetscErrorCode get_setting(PC pc, Value* value, const Read& read) {
  PetscFunctionBegin;
  bool ours = false;
  PetscCall(is_ours(pc, &ours));
  PetscCheck(ours, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_ARG_WRONG,
             "the PC is not of type " PCTASKDAG);
  PetscCheck(value, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "there is no place for the value");
  *value = read(std::as_const(settings_of(pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
