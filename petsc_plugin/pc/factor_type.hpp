/// \file
/// -pc_taskdag_type ilu and icc, dilu and dic: incomplete factorisations, with their orderings, shifts and levels of
/// fill.
#pragma once

#include "compat.hpp"
#include "settings.hpp"
#include "taskdag/factorization.hpp"

namespace taskdag::petsc {

/// Options of PETSc's factorisations that these do not have are an error: it must not look as if they counted.
PetscErrorCode refuse_other_options(OptionItems items);

/// The library's options for a factor of these settings. May throw.
FactorOptions options_of_factor(const FactorSettings& factor, FactorKind kind, bool diagonal_only,
                                const SweepSettings& sweeps);
/// Whether ICC takes the shift that PETSc does not have.
bool takes_scaled_shift(const FactorSettings& settings, FactorKind kind);
/// Prints what shift there may be.
PetscErrorCode view_shift(PetscViewer viewer, const FactorSettings& settings, FactorKind kind);
/// Prints that there was one, and in how many attempts it was found.
PetscErrorCode view_scaled_shift(PetscViewer viewer, double amount, int attempts);

/// Whether new numbers on the pattern that was analysed with `a` do for `b`, as far as it is a factor's.
bool same_factor_pattern(const Settings& a, const Settings& b);
/// Whether the numbers do, too.
bool same_factor(const Settings& a, const Settings& b);

/// PETSc's own setters for factor options reach this preconditioner as well.
PetscErrorCode compose_factor_setters(PC pc, bool present);

}  // namespace taskdag::petsc
