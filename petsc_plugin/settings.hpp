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

/// Up to so many rows a factor on a GPU is made on the host and applied by one thread block.
inline constexpr Index default_one_block_rows = 0;

/// How triangular sweeps are to run.
struct SweepSettings {
  SolveSchedule schedule = SolveSchedule::automatic;
  bool tune = false;
  std::string tune_file;
  FactorSchedule factor_schedule = FactorSchedule::automatic;
  engine::StaticOptions run;                      ///< of the schedules engine
  AtaFlow ata_flow = AtaFlow::pull;               ///< of the schedules ata-…
  Index one_block_rows = default_one_block_rows;  ///< FactorOptions::one_block_rows
  std::string trace_file;                         ///< for what their programs have done; empty: none
  bool operator==(const SweepSettings&) const = default;
};

/// Rows from which `auto` takes a GPU although matrix and vectors are in host memory.
inline constexpr PetscInt default_auto_min_rows = 20000;

}  // namespace taskdag::petsc
