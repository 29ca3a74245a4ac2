/// \file
/// -pc_taskdag_type auto: a factorisation or Jacobi, whichever is expected to be faster, and later what was.
#pragma once

#include <memory>

#include "pc/preconditioner.hpp"

namespace taskdag::petsc {

struct Settings;

std::unique_ptr<Preconditioner> make_auto(const Settings& settings);

/// Options that ask for what auto does not have are an error.
PetscErrorCode check_auto(const Settings& settings);

}  // namespace taskdag::petsc
