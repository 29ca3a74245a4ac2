/// \file
/// The options of the preconditioner: the table of all, and the function that reads them.
#pragma once

#include <iosfwd>
#include <vector>

#include "options.hpp"
#include "pc/types.hpp"

namespace taskdag::petsc {

/// The whole table, those without prefix at the end; the defaults are taken from the settings.
std::vector<OptionRow> option_table();

/// Writes the table as a Markdown table.
void write_option_table(std::ostream& out);

/// Reads the settings of a preconditioner inside PetscOptionsBegin() or PCSetFromOptions().
/// @returns PETSC_ERR_ARG_OUTOFRANGE for values outside the table's range
PetscErrorCode read_settings(OptionItems items, Settings* settings);

/// The same with what else -help is to show, inside PCSetFromOptions(). Collective on the PC.
/// @returns PETSC_ERR_ARG_OUTOFRANGE for values outside the table's range
PetscErrorCode read_pc_options(OptionItems items, Settings* settings);

/// Settings that contradict each other are an error, PETSC_ERR_ARG_INCOMP.
PetscErrorCode check_settings(const Settings& settings);

/// Whether what was set up with `a` does for `b`.
bool same_setup(const Settings& a, const Settings& b);
/// Whether the numeric phase alone is to be repeated for `b`.
bool same_pattern(const Settings& a, const Settings& b);

}  // namespace taskdag::petsc
