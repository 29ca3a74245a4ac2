/// \file
/// -pc_taskdag_type jacobi: damped Jacobi sweeps; those with blocks are in block_jacobi_type.hpp.
#pragma once

#include <memory>
#include <vector>

#include "options.hpp"
#include "pc/preconditioner.hpp"
#include "taskdag/jacobi.hpp"

namespace taskdag::petsc {

struct Settings;

std::unique_ptr<Preconditioner> make_jacobi(const Settings& settings);

/// With Chebyshev's weights it is a smoother: in Richardson's iteration it goes on from the vector that is there. With
/// constant ones Richardson's iteration is PETSc's, which ends by a residual.
bool jacobi_iterates(const Settings& settings);
/// Refuses settings that exclude each other, for auto, too, which may come to Jacobi late.
PetscErrorCode check_jacobi(const Settings& settings);

/// Its options: -pc_taskdag_jacobi_….
std::vector<OptionRow> jacobi_rows();
PetscErrorCode read_jacobi(OptionItems items, Settings* settings);
/// As -pc_taskdag_jacobi_type names it.
const char* jacobi_type_name(const Settings& settings);
bool same_jacobi(const Settings& a, const Settings& b);

/// PETSc's own setters and getters, PCJacobiSetType() and so on, reach this preconditioner as well.
PetscErrorCode compose_jacobi_setters(PC pc, bool present);

}  // namespace taskdag::petsc
