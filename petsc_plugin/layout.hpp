/// \file
/// Whether the running PETSc lays its private structures out as the headers do that the plugin was compiled with.
#pragma once

#include <petscsys.h>

namespace taskdag::petsc {

/// Makes objects on this rank alone, changes them through PETSc's functions and looks for the change where the plugin
/// would; sets functions where the plugin does and looks whether PETSc calls them. Each structure that the plugin uses
/// is tried in so many members that one which comes, goes or grows moves another one of them.
/// @param elsewhere  set to the first member that is not where the headers have it; null: all are there. A literal
PetscErrorCode find_moved_member(const char** elsewhere);

}  // namespace taskdag::petsc
