/// \file
/// The preconditioner: -pc_type taskdag.
#pragma once

#include <petscpc.h>

#include <functional>

#include "taskdag/context.hpp"
#include "taskdag/factorization.hpp"
#include "taskdag/krylov.hpp"

namespace taskdag::petsc {

struct Settings;

PetscErrorCode register_pc();

struct ArrayUse;

/// Whether the PC is one of this type.
PetscErrorCode is_taskdag(PC pc, bool* is);

/// Before a set-up: whether a Krylov loop of TaskDAG is to apply it. Nothing for a PC of another type.
PetscErrorCode expect_loop(PC pc, bool expected);

/// Of a PC of this type that is set up: lets what follows its matrix do so, and says how it can be applied to arrays of
/// this rank's rows; ArrayUse::backend is null where it cannot, also after a failure and on a rank without rows. What
/// it says holds until the PC is touched again. replays: applications by graphs since the last call, as far as is
/// known. Collective.
PetscErrorCode prepare_for_arrays(PC pc, std::int64_t replays, ArrayUse* use);
/// Applies it so, in memory of its backend. May throw.
void apply_to_arrays(PC pc, const double* b, double* x, Stream stream);
/// The same to each of some columns.
void apply_to_columns(PC pc, Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx,
                      Stream stream);
/// The same with a symmetric part, where ArrayUse says that there are such.
void apply_part_to_arrays(PC pc, Apply part, const double* b, double* x, Stream stream);
/// Preconditioner::map_over_ranks()
LinearMap* map_over_ranks(PC pc);

/// The settings of a PC of this type.
const Settings& settings_of(PC pc);

struct InnerMg;
/// What is known of the PC inside one of type mg.
InnerMg& inner_mg_of(PC pc);

/// Drops what was set up: the next PCSetUp() starts from nothing.
PetscErrorCode start_over(PC pc);

/// Puts other settings in the place of those. What was set up is kept as far as it does for them.
PetscErrorCode take_settings(PC pc, Settings&& settings);

/// The same with what `change` makes of a copy of those.
PetscErrorCode change_settings(PC pc, const std::function<void(Settings&)>& change);

}  // namespace taskdag::petsc
