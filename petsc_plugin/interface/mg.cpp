// Multigrid cycles of PETSc's own preconditioners by us.
#include "mg/mg_types.hpp"
#include "taskdagpetsc.h"

using namespace taskdag::petsc;

/*@
  TaskDAGSetMG - Sets whether the cycles of PETSc's own multigrid preconditioners are TaskDAG's

  Logically Collective on `PETSC_COMM_WORLD`

  Input Parameter:
. use - whether they are

  Options Database Key:
. -taskdag_mg <bool> - the same; where it is given it counts, and not this function

  Level: intermediate

  Notes:
  Counts for preconditioners of type `PCMG`, `PCGAMG` or `PCHMG` that are set up after the call. PETSc sets the
hierarchy up, TaskDAG applies it: smoothing, restriction, interpolation and the coarsest level's solve of a whole cycle,
with as many iterations of the Krylov method. In `KSPCG` and other methods that TaskDAG has it is applied inside their
loop.

  `PCView()` says whether a cycle is TaskDAG's, and if not, why. On several ranks it is PETSc's.

.seealso: `PCMG`, `PCGAMG`, `PCHMG`
@*/
PetscErrorCode TaskDAGSetMG(PetscBool use) {
  PetscFunctionBegin;
  use_mg(use == PETSC_TRUE);
  PetscFunctionReturn(PETSC_SUCCESS);
}
