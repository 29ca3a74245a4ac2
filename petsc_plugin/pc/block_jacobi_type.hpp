/// \file
/// -pc_taskdag_type jacobi with -pc_taskdag_jacobi_type block: sweeps with the inverses of small dense blocks.
#pragma once

#include <memory>

#include "pc/preconditioner.hpp"
#include "settings.hpp"

namespace taskdag::petsc {

std::unique_ptr<Preconditioner> make_block_jacobi(const Settings& settings);

/// Settings of other Jacobi sweeps that it does not have are an error, in words.
PetscErrorCode check_block_jacobi(const Settings& settings);

}  // namespace taskdag::petsc
