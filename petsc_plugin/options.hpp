/// \file
/// How options are described and read, and those that all solvers of the plugin have. The options of one solver or
/// ordering are beside it; pc/pc_options.hpp has the table of all.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compat.hpp"
#include "option_row.hpp"
#include "settings.hpp"

namespace taskdag::petsc {

/// The words one after the other: "a, b" with `last` between the last two.
std::string join(std::span<const char* const> words, const char* last = ", ");

/// A number as a user would write it.
std::string number(double value);

/// "true", "false".
const char* to_text(bool value);

// Each reads one option inside PetscOptionsBegin() or PetscOptionsHeadBegin(); a value that is not given stays.
// They return PETSC_ERR_ARG_OUTOFRANGE for values outside the row's range.

/// One of `names`; `value` is its place there. `given`: null, or told whether the option was given.
PetscErrorCode read_list(OptionItems items, const OptionRow& option, std::span<const char* const> names,
                         PetscInt* value, PetscBool* given = nullptr);
PetscErrorCode read_int(OptionItems items, const OptionRow& option, PetscInt least, PetscInt* value);
PetscErrorCode read_bool(OptionItems items, const OptionRow& option, bool* value);
/// Finite, 0 or more.
PetscErrorCode read_tolerance(OptionItems items, const OptionRow& option, PetscReal* value);
PetscErrorCode read_text(OptionItems items, const OptionRow& option, std::string* value, PetscBool* given);

/// Backend and threads.
std::vector<OptionRow> backend_rows();
PetscErrorCode read_backend(OptionItems items, BackendSettings* settings);

/// Schedule and tuning.
std::vector<OptionRow> sweep_rows();
PetscErrorCode read_sweeps(OptionItems items, SweepSettings* settings);
/// A trace is asked for only where there are programs: schedules engine, or another one.
PetscErrorCode check_trace(const SweepSettings& settings, bool has_program);

/// As its option names it.
const char* scheduler_name(const SweepSettings& settings);

/// -taskdag_auto_min_rows.
OptionRow auto_min_rows_row();
PetscErrorCode read_auto_min_rows(PetscInt* rows);

/// -taskdag_mat_sor.
OptionRow mat_sor_row();
PetscErrorCode read_mat_sor(bool* use);

}  // namespace taskdag::petsc
