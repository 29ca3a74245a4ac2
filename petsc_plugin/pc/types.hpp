/// \file
/// The types of the preconditioner, which declared/table.py declares: what -pc_taskdag_type can name.
#pragma once

#include <array>
#include <memory>

#include "pc/preconditioner.hpp"
#include "settings.hpp"

namespace taskdag::petsc {

// Each make_… makes a preconditioner, and may throw; the settings outlive it. Each check_… refuses settings that
// exclude each other, PETSC_ERR_ARG_INCOMP.
#include <taskdag_settings/type_functions.inc>

/// One type.
struct PcType {
  PCTaskDAGType type;
  const char* name;   ///< as -pc_taskdag_type takes it
  const char* title;  ///< what it is
  std::unique_ptr<Preconditioner> (*make)(const Settings& settings);
  PetscErrorCode (*check)(const Settings& settings);
  bool factors = false;                                  ///< makes factors, or may
  bool has_halves = false;                               ///< apply() takes the symmetric halves too
  bool (*iterates)(const Settings& settings) = nullptr;  ///< whether Richardson's iteration is iterate(); null: never
  /// A block of several ranks is made of its entries alone, and applied as a whole.
  bool consolidates = false;
  bool watches_solves = false;  ///< before_solve() and after_solve() are to be called
  /// Applied with the matrix' values of now, as PETSc's counterpart, even where PETSc keeps what has been set up.
  bool follows_matrix = false;
  bool across = false;  ///< there is a form of the whole matrix on several ranks
};

/// In the order of PCTaskDAGType.
inline constexpr auto pc_types = std::to_array<PcType>({
#include <taskdag_settings/types.inc>
});

/// The type's row, or null.
const PcType* find_type(PCTaskDAGType type);

/// The error for a type without symmetric halves; success for all others.
PetscErrorCode check_halves(MPI_Comm comm, const PcType& type);

/// Gives settings without a type the one that counts then: auto, or ILU where something is said about how a factor is
/// to be made or applied, and for complex numbers. -pc_taskdag_tune alone says nothing of a factor. May throw, and
/// changes nothing then.
void settle_type(Settings* settings);

}  // namespace taskdag::petsc
