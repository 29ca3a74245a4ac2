/// \file
/// -pc_taskdag_type jacobi: damped Jacobi sweeps.
#pragma once

#include <memory>
#include <vector>

#include "options.hpp"
#include "pc/preconditioner.hpp"

namespace taskdag::petsc {

struct Settings;

std::unique_ptr<Preconditioner> make_jacobi(const Settings& settings);

/// Its options: -pc_taskdag_jacobi_….
std::vector<OptionRow> jacobi_rows();
PetscErrorCode read_jacobi(OptionItems items, Settings* settings);
bool same_jacobi(const Settings& a, const Settings& b);

}  // namespace taskdag::petsc
