/// \file
/// The options of the preconditioner: how they are read, which exclude each other, and what a change of them costs.
#pragma once

#include "options.hpp"

namespace taskdag::petsc {

/// Reads the options of the type that is chosen, inside PCSetFromOptions(); -help shows those of the others, too.
/// Collective on the PC.
/// @returns PETSC_ERR_ARG_OUTOFRANGE for values outside the table's range
PetscErrorCode read_pc_options(OptionItems items, Settings* settings);

/// Settings that contradict each other, or what the type does not have, are an error, PETSC_ERR_ARG_INCOMP.
PetscErrorCode check_settings(const Settings& settings);

/// Whether what was set up with `a` does for `b`.
bool same_setup(const Settings& a, const Settings& b);
/// Whether the numeric phase alone is to be repeated for `b`.
bool same_pattern(const Settings& a, const Settings& b);

}  // namespace taskdag::petsc
