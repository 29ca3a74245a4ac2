/// \file
/// The levels of PETSc's PCMG, which PCGAMG and PCHMG are kinds of.
#pragma once

#include "across/reason.hpp"
#include "compat.hpp"
#include "taskdag/cycle.hpp"

namespace taskdag::petsc {

/// What PETSc keeps of a PCMG that is set up.
inline const PC_MG& data_of_mg(PC pc) { return *static_cast<const PC_MG*>(pc->data); }
/// PETSc counts levels from the coarsest, which is 0. Smoothers have their options under these numbers.
inline int levels_of(PC pc) { return static_cast<int>(data_of_mg(pc).nlevels); }
inline const PC_MG_Levels& level_of(PC pc, int level) { return *data_of_mg(pc).levels[level]; }

/// Says why a cycle is PETSc's: "level 2's smoother is gmres". The first reason stays.
class Refusal {
 public:
  /// part: of the level. why_not outlives this.
  Refusal(int level, const char* part, Reason* why_not) : level_(level), part_(part), why_not_(why_not) {}
  /// `more` is behind `what`.
  void operator()(const char* what, const char* more = "") const;

 private:
  int level_;
  const char* part_;
  Reason* why_not_;
};

/// Whether it is on the ranks of the preconditioner: PETSc lets levels have communicators of their own
/// (PCMGSetLevels()), and ranks that are in none of a level do not have its objects. Not collective.
PetscErrorCode has_ranks_of_pc(PC pc, int level, bool* has);

/// Whether PETSc smooths there after the correction, too.
bool smooths_after(PC pc, int level);

/// Whether the smoother that comes before the correction may find another solution than zero.
bool begins_from_solution(PC pc, int level);

/// Form and number of the cycles.
CycleOptions cycle_options(PC pc);

/// Whether the cycle on this level is one that the library has, all but its smoothers. The operator is read, too.
PetscErrorCode check_level(PC pc, int level, Reason* why_not);

}  // namespace taskdag::petsc
