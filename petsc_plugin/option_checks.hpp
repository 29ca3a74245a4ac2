/// \file
/// What the user wrote as an option's value is checked before PETSc reads it. PETSc takes an empty text for the first
/// word of a list, leaves a number without a value out, and does not say what there is to choose from.
#pragma once

#include <span>

#include "compat.hpp"
#include "option_row.hpp"

namespace taskdag::petsc {

// Each returns PETSC_ERR_ARG_OUTOFRANGE with "OPTION must be RANGE, not "TEXT"", and success where the option is not
// given.

/// One of `words`, whatever the case of its letters.
PetscErrorCode check_word(OptionItems items, const OptionRow& option, std::span<const char* const> words);
/// A whole number that PetscInt holds.
PetscErrorCode check_int(OptionItems items, const OptionRow& option);
/// A finite number; the caller looks at its range.
PetscErrorCode check_real(OptionItems items, const OptionRow& option);
/// A truth value, or no value: that is true.
PetscErrorCode check_bool(OptionItems items, const OptionRow& option);
/// Not empty, and not longer than PETSc reads.
PetscErrorCode check_text(OptionItems items, const OptionRow& option);

}  // namespace taskdag::petsc
