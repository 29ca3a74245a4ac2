/// \file
/// A factorisation's options in the library's terms, and the one option that PETSc's own preconditioners do not have.
#pragma once

#include "compat.hpp"
#include "options.hpp"
#include "taskdag/factorization.hpp"

namespace taskdag::petsc {

/// The library's options for a factorisation with PETSc's shift conventions; `levels` of fill, which may be at `fill`.
FactorOptions factor_options(FactorKind kind, MatFactorShiftType shift, PetscReal amount, PetscReal zero_pivot,
                             PetscInt levels, FillScope fill, const SweepSettings& sweeps);

/// -pc_taskdag_fill.
OptionRow fill_row();
const char* fill_name(FillScope fill);
PetscErrorCode read_fill(OptionItems items, FillScope* fill);

}  // namespace taskdag::petsc
