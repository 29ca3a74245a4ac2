/// \file
/// -pc_taskdag_type jacobi where PETSc's scalars are complex.
#pragma once

#include <memory>

#include "pc/preconditioner.hpp"
#include "settings.hpp"

namespace taskdag::petsc {

std::unique_ptr<Preconditioner> make_complex_jacobi(const Settings& settings);

}  // namespace taskdag::petsc
