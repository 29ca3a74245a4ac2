/// \file
/// What there is for complex numbers, and what not.
#pragma once

#include "settings.hpp"

namespace taskdag::petsc {

/// @returns PETSC_ERR_SUP for what complex numbers do not have, with what takes its place
PetscErrorCode check_complex(const Settings& settings);

}  // namespace taskdag::petsc
