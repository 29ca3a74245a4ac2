/// \file
/// Blocks of several ranks as one: ranks that share a GPU let one of them work for all, with fewer and larger blocks.
#pragma once

#include <memory>

#include "pc/preconditioner.hpp"
#include "settings.hpp"

namespace taskdag::petsc {

/// Types and options that do not go together with it are an error.
PetscErrorCode check_consolidate(const Settings& settings);

/// `inner`, which works on one block for each group of ranks. The settings outlive what is made. May throw.
std::unique_ptr<Preconditioner> consolidate(std::unique_ptr<Preconditioner> inner, const Settings& settings);

}  // namespace taskdag::petsc
