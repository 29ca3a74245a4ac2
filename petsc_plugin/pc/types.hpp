/// \file
/// The types of the preconditioner: the table of what -pc_taskdag_type can name, and the settings of all of them.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "options.hpp"
#include "pc/auto_type.hpp"
#include "pc/block_jacobi_type.hpp"
#include "pc/consolidated.hpp"
#include "pc/eisenstat.hpp"
#include "pc/factor_type.hpp"
#include "pc/jacobi_type.hpp"
#include "pc/preconditioner.hpp"
#include "pc/sor_type.hpp"
#include "settings.hpp"
#include "taskdag/jacobi.hpp"
#include "taskdagpetsc.h"

namespace taskdag::petsc {

/// Everything that the preconditioner takes from options or setters. What belongs to one type stays while another one
/// is in use.
struct Settings {
  PCTaskDAGType type = PC_TASKDAG_AUTO;
  bool type_given = false;  ///< somebody has said which; else it is that of settle_type()
  BackendSettings backend;
  SweepSettings sweeps;
  FactorSettings factor;
  JacobiOptions jacobi;
  BlockJacobiSettings block_jacobi;
  SorSettings sor;
  bool eisenstat = false;
  TransformScaling eisenstat_scaling = TransformScaling::none;
  ConsolidateSettings consolidate;
};

/// One type.
struct PcType {
  PCTaskDAGType type;
  const char* name;   ///< as -pc_taskdag_type takes it
  const char* title;  ///< what it is, for -help
  /// The settings outlive what is made. May throw.
  std::unique_ptr<Preconditioner> (*make)(const Settings& settings);
  bool has_halves;                             ///< apply() takes the symmetric halves too
  bool (*iterates)(const Settings& settings);  ///< whether Richardson's iteration is iterate(); null: never
  /// A block of several ranks is made of its entries alone, and applied as a whole.
  bool consolidates;
  bool watches_solves = false;  ///< before_solve() and after_solve() are to be called
  /// Applied with the matrix' values of now, as PETSc's counterpart, even where PETSc keeps what has been set up.
  bool follows_matrix = false;
};

/// In the order of PCTaskDAGType.
inline constexpr auto pc_types = std::to_array<PcType>({
    {PC_TASKDAG_ILU, "ilu", "ILU", make_ilu, false, nullptr, true},
    {PC_TASKDAG_ICC, "icc", "ICC", make_icc, true, nullptr, true},
    {PC_TASKDAG_JACOBI, "jacobi", "Jacobi sweeps", make_jacobi, false, jacobi_iterates, false},
    {PC_TASKDAG_SOR, "sor", "SOR and SSOR sweeps", make_sor, false, [](const Settings&) { return true; }, false, false,
     true},
    {PC_TASKDAG_DILU, "dilu", "DILU", make_dilu, false, nullptr, true},
    {PC_TASKDAG_DIC, "dic", "DIC", make_dic, true, nullptr, true},
    {PC_TASKDAG_AUTO, "auto", "a choice between a factorisation and Jacobi", make_auto, false, nullptr, false, true},
});

/// Options that belong to one type or to several.
struct TypeOptions {
  std::vector<OptionRow> (*rows)();
  /// Inside PCSetFromOptions().
  PetscErrorCode (*read)(OptionItems items, Settings* settings);
  /// Whether what was set up with `a` does for `b`.
  bool (*same)(const Settings& a, const Settings& b);
  /// Whether the numeric phase alone is to be repeated for `b`.
  bool (*same_pattern)(const Settings& a, const Settings& b);
  /// PETSc's setters for them; null: none.
  PetscErrorCode (*compose_setters)(PC pc, bool present);
};

/// In the order of -help and of the option table.
inline constexpr auto type_options = std::to_array<TypeOptions>({
    {jacobi_rows, read_jacobi, same_jacobi, same_jacobi, compose_jacobi_setters},
    {block_jacobi_rows, read_block_jacobi, same_block_jacobi, same_block_jacobi, nullptr},
    {sor_rows, read_sor, same_sor, same_sor, compose_sor_setters},
    {eisenstat_rows, read_eisenstat, same_eisenstat, same_eisenstat, nullptr},
    {consolidate_rows, read_consolidate, same_consolidate, same_consolidate, nullptr},
    {factor_rows, read_factor, same_factor, same_factor_pattern, compose_factor_setters},
});

/// The type's row, or null.
const PcType* find_type(PCTaskDAGType type);

/// The error for a type without symmetric halves; success for all others.
PetscErrorCode check_halves(MPI_Comm comm, const PcType& type);

/// Gives settings without a type the one that counts then: auto, or ILU where something is said about how a factor is
/// to be made or applied. -pc_taskdag_tune alone says nothing of a factor. May throw, and changes nothing then.
void settle_type(Settings* settings);

/// -pc_taskdag_type.
OptionRow type_row();
PetscErrorCode read_type(OptionItems items, Settings* settings);

}  // namespace taskdag::petsc
