/// \file
/// A factorisation's options in the library's terms, and the options that PETSc's own preconditioners do not have.
#pragma once

#include "compat.hpp"
#include "options.hpp"
#include "taskdag/factorization.hpp"
#include "taskdag/precision.hpp"

namespace taskdag::petsc {

/// The library's options for a factorisation with PETSc's shift conventions; `levels` of fill, which may be at `fill`.
FactorOptions factor_options(FactorKind kind, MatFactorShiftType shift, PetscReal amount, PetscReal zero_pivot,
                             PetscInt levels, FillScope fill, Precision precision, const SweepSettings& sweeps);

/// -pc_taskdag_fill.
OptionRow fill_row();
const char* fill_name(FillScope fill);
PetscErrorCode read_fill(OptionItems items, FillScope* fill);

/// -pc_taskdag_precision.
OptionRow precision_row();
PetscErrorCode read_precision(OptionItems items, Precision* precision);

}  // namespace taskdag::petsc
