/// \file
/// What a user can set about the plugin's solvers, with the defaults.
#pragma once

#include <petscmat.h>

#include <string>

#include "taskdag/context.hpp"
#include "taskdag/factorization.hpp"
#include "taskdag/jacobi.hpp"
#include "taskdagpetsc.h"

namespace taskdag::petsc {

/// Where the work is to run.
struct BackendSettings {
  Backend wanted = Backend::automatic;
  PetscInt threads = 0;  ///< 0: chosen by the plugin
  bool operator==(const BackendSettings&) const = default;
};

/// How a factor's triangular sweeps are to run.
struct SweepSettings {
  SolveSchedule schedule = SolveSchedule::automatic;
  bool tune = false;
  std::string tune_file;
  bool operator==(const SweepSettings&) const = default;
};

/// Everything that the preconditioner takes from options or setters.
struct Settings {
  PCTaskDAGType type = PC_TASKDAG_ILU;
  BackendSettings backend;
  SweepSettings sweeps;
  JacobiOptions jacobi;
  std::string ordering = "auto";
  bool reuse_ordering = false;
  bool shift_chosen = false;  ///< else the type's default counts
  MatFactorShiftType shift = MAT_SHIFT_NONE;
  PetscReal shift_amount = FactorOptions{}.shift_amount;
  PetscReal zero_pivot = FactorOptions{}.zero_pivot;
  PetscInt levels = 0;
  FillScope fill = FillScope::everywhere;
};

/// Rows from which `auto` takes a GPU although matrix and vectors are in host memory.
inline constexpr PetscInt default_auto_min_rows = 20000;

/// The shift in force: the chosen one, else none for ILU and positive definite for ICC, as PETSc's own.
MatFactorShiftType effective_shift(const Settings& settings);

/// The library's options for a factorisation with PETSc's shift conventions; `levels` of fill, which may be at `fill`.
FactorOptions factor_options(FactorKind kind, MatFactorShiftType shift, PetscReal amount, PetscReal zero_pivot,
                             PetscInt levels, FillScope fill, const SweepSettings& sweeps);

}  // namespace taskdag::petsc
