/// \file
/// What the functions of taskdagpetsc.h have in common. Setters go the way of options, so that both take the same
/// values and complain alike.
#pragma once

#include "compat.hpp"
#include "taskdagpetsc.h"

namespace taskdag::petsc {

// Each sets the option `name` (with its dash, without prefix) of a PC of type taskdag, of no other.
PetscErrorCode set_value(PC pc, const char* name, const char* value);
PetscErrorCode set_value(PC pc, const char* name, PetscInt value);
PetscErrorCode set_value(PC pc, const char* name, PetscReal value);
PetscErrorCode set_value(PC pc, const char* name, PetscBool value);
/// By its place among the option's words.
PetscErrorCode set_place(PC pc, const char* name, const char* enumeration, PetscInt place);
/// A name that is null or empty: none.
PetscErrorCode set_file(PC pc, const char* name, const char* file);

// Each hands out a setting. They return PETSC_ERR_ARG_WRONG for a PC of another type, PETSC_ERR_ARG_NULL without a
// place.
PetscErrorCode get_value(PC pc, const char* name, const char** value);
PetscErrorCode get_value(PC pc, const char* name, PetscInt* value);
PetscErrorCode get_value(PC pc, const char* name, PetscReal* value);
PetscErrorCode get_value(PC pc, const char* name, PetscBool* value);
/// The place among the option's words.
template <class Enumeration>
PetscErrorCode get_place(PC pc, const char* name, Enumeration* value);

}  // namespace taskdag::petsc
