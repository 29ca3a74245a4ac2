/// \file
/// What a user can set of all that the plugin does, with the defaults. What belongs to one solver is beside that
/// solver.
#pragma once

#include <petscsys.h>

#include <string>

#include "taskdag/context.hpp"
#include "taskdag/engine/static/order.hpp"
#include "taskdag/factorization.hpp"
#include "taskdag/solve_schedule.hpp"

namespace taskdag::petsc {

/// Where the work is to run.
struct BackendSettings {
  Backend wanted = Backend::automatic;
  PetscInt threads = 0;  ///< 0: chosen by the plugin
  bool operator==(const BackendSettings&) const = default;
};

/// -pc_taskdag_one_block_rows as PETSC_DECIDE: few rows start with one thread block, and leave it when it has cost what
/// another schedule costs to be set up. Only -pc_type taskdag decides so, and not for what the user has chosen himself.
inline constexpr Index one_block_decided = -1;
/// Up to so many rows then.
inline constexpr Index few_rows = 5000;

/// How triangular sweeps are to run.
struct SweepSettings {
  SolveSchedule schedule = SolveSchedule::automatic;
  bool tune = false;
  std::string tune_file;
  FactorSchedule factor_schedule = FactorSchedule::automatic;
  engine::StaticOptions run{.scheduler = engine::Scheduler::megakernel};  ///< of the schedules engine
  AtaFlow ata_flow = AtaFlow::pull;                                       ///< of the schedules ata-…
  AtaSize ata_size = AtaSize::equations;                                  ///< likewise
  bool ata_rows_share_warps = true;                                       ///< of these and of the schedules level-…
  Index one_block_rows = one_block_decided;                               ///< FactorOptions::one_block_rows
  std::string trace_file;  ///< for what their programs have done; empty: none
  /// Up to how many rows somebody has chosen it for.
  [[nodiscard]] Index chosen_one_block_rows() const { return one_block_rows == one_block_decided ? 0 : one_block_rows; }
  bool operator==(const SweepSettings&) const = default;
};

/// Rows from which `auto` takes a GPU although matrix and vectors are in host memory.
inline constexpr PetscInt default_auto_min_rows = 20000;

}  // namespace taskdag::petsc
