/// \file
/// What a user can set of all that the plugin does, with the defaults. Most fields are declared where their options
/// are: in declared/table.py.
#pragma once

#include <petscmat.h>

#include <optional>
#include <string>

#include "scalar.hpp"
#include "taskdag/block_ordering.hpp"
#include "taskdag/context.hpp"
#include "taskdag/engine/static/order.hpp"
#include "taskdag/factorization.hpp"
#include "taskdag/jacobi.hpp"
#include "taskdag/ordering.hpp"
#include "taskdag/precision.hpp"
#include "taskdag/solve_schedule.hpp"
#include "taskdag/study.hpp"
#include "taskdagpetsc.h"

namespace taskdag::petsc {

/// -pc_taskdag_one_block_rows as PETSC_DECIDE: few rows start with one thread block, and leave it when it has cost what
/// another schedule costs to be set up. Only -pc_type taskdag decides so, and not for what the user has chosen himself.
inline constexpr Index one_block_decided = -1;
/// The largest matrix for which it decides so.
inline constexpr Index few_rows = 5000;

/// The ordering that the plugin chooses.
inline constexpr auto ordering_auto = "auto";

/// -pc_taskdag_icc_shift.
enum class IccShift {
  scaled,  ///< the library's ShiftType::scaled
  petsc,   ///< positive definite, as PETSc's ICC
};
/// There is no sign of a complex diagonal.
inline constexpr IccShift default_icc_shift = complex_scalars ? IccShift::petsc : IccShift::scaled;

/// -pc_taskdag_point_block: whether dense blocks of the matrix are taken as one, by factorisations and by SOR.
enum class PointBlock {
  automatic,  ///< those that MATBAIJ and MATSBAIJ store, where nothing is asked for that only scalar rows have
  on,         ///< those, and MATAIJ's with a block size; what they do not have is refused
  off,
};

/// Which ranks' blocks are put together.
enum class Consolidate {
  off,
  automatic,  ///< of ranks that share a GPU
  on          ///< the same; on host threads, of the ranks of a node
};

/// -pc_taskdag_across: what a preconditioner on several ranks is of.
enum class Across {
  off,        ///< of each rank's own rows and columns
  automatic,  ///< what a model expects to be the faster one
  on          ///< of the whole matrix
};

/// Where the blocks of block Jacobi come from.
enum class JacobiBlockSource {
  automatic,  ///< matrix where it has blocks and no size is asked for; else graph
  graph,      ///< compact blocks of the graph, those of taskdag_bmc
  matrix,     ///< those that PETSc's pbjacobi and vpbjacobi take
};

/// Which of PETSc's preconditioners sets multigrid up.
enum class MgType { gamg, mg, hmg };

/// -taskdag_ksp: which solves by PETSc's Krylov methods run as a loop of ours.
enum class KspUse {
  automatic,  ///< those with a preconditioner of ours
  on,         ///< those, and such with one of PETSc that divides by a diagonal or by blocks
  off,
};

/// Where the work is to run.
struct BackendSettings {
#include <taskdag_settings/fields_backend.inc>
  bool operator==(const BackendSettings&) const = default;
};

/// How triangular sweeps are to run.
struct SweepSettings {
#include <taskdag_settings/fields_sweeps.inc>
  engine::StaticOptions run{.scheduler = engine::Scheduler::megakernel};  ///< of the schedules engine
  Study study;                                                            ///< of the papers' schedules
  /// The largest matrix that the user has chosen it for; 0: none.
  [[nodiscard]] Index chosen_one_block_rows() const { return one_block_rows == one_block_decided ? 0 : one_block_rows; }
  bool operator==(const SweepSettings&) const = default;
};

/// How a factor is made. Without a shift of PETSc's the type's default counts; that and a chosen ICC shift contradict
/// each other.
struct FactorSettings {
#include <taskdag_settings/fields_factor.inc>
  bool operator==(const FactorSettings&) const = default;
};

/// -pc_taskdag_jacobi_type block. Sweeps, damping and weights are those of other Jacobi sweeps.
struct BlockJacobiSettings {
  bool used = false;
#include <taskdag_settings/fields_block_jacobi.inc>
  bool operator==(const BlockJacobiSettings&) const = default;
};

/// PCSOR's, with its defaults.
struct SorSettings {
#include <taskdag_settings/fields_sor.inc>
  bool operator==(const SorSettings&) const = default;
};

/// Blocks of several ranks as one.
struct ConsolidateSettings {
#include <taskdag_settings/fields_consolidate.inc>
  bool operator==(const ConsolidateSettings&) const = default;
};

/// What no preconditioner has of its own: of the orderings, and of the whole process.
struct SharedSettings {
#include <taskdag_settings/fields_shared.inc>
  OrderingOptions rcm;  ///< of the ordering taskdag_rcm
};

/// Everything that is taken from options or setters. What belongs to one type stays while another one is in use.
struct Settings {
  PCTaskDAGType type = complex_scalars ? PC_TASKDAG_ILU : PC_TASKDAG_AUTO;  ///< of settings that nothing was said to
  bool type_given = false;  ///< the user has said which; else it is that of settle_type()
#include <taskdag_settings/fields_all.inc>
  BackendSettings backend;
  SweepSettings sweeps;
  FactorSettings factor;
  JacobiOptions jacobi;
  BlockJacobiSettings block_jacobi;
  SorSettings sor;
  ConsolidateSettings consolidate;
  SharedSettings shared;
};

}  // namespace taskdag::petsc
