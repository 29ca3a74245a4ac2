// Multigrid cycles of PETSc's own preconditioners by us.
#include "mg/mg_types.hpp"
#include "pc/inner_mg.hpp"
#include "pc/pc_taskdag.hpp"
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

  `PCView()` says whether a cycle is TaskDAG's, and if not, why.

.seealso: `PCMG`, `PCGAMG`, `PCHMG`
@*/
PetscErrorCode TaskDAGSetMG(PetscBool use) {
  PetscFunctionBegin;
  use_mg(use == PETSC_TRUE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSetMG - Sets the multigrid preconditioner that a preconditioner of type `PC_TASKDAG_MG` applies

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- mg - a preconditioner of type `PCMG`, `PCGAMG` or `PCHMG`; `NULL` for one that pc makes

  Level: intermediate

  Notes:
  `PCSetUp()` of pc gives it the operators of pc, and its `DM` where it has none, and sets it up. Its type, its options
and what else has been set of it are left alone, and `PCReset()` of pc does not reset it. It counts while the type of pc
is `PC_TASKDAG_MG`.

.seealso: `PCTASKDAG`, `PCTaskDAGGetMG()`, `PCTaskDAGSetType()`, `PCMG`
@*/
PetscErrorCode PCTaskDAGSetMG(PC pc, PC mg) {
  PetscFunctionBegin;
  bool ours = false;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  if (mg) PetscValidHeaderSpecific(mg, PC_CLASSID, 2);
  if (mg) PetscCheckSameComm(pc, 1, mg, 2);
  PetscCall(is_taskdag(pc, &ours));
  if (ours) PetscCall(set_inner_mg(pc, mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetMG - Gets the multigrid preconditioner that a preconditioner of type `PC_TASKDAG_MG` applies

  Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. mg - what sets the levels up; the reference stays that of pc

  Level: intermediate

  Note:
  Where there is none it is made, of the type that `PCTaskDAGSetMGPCType()` says, so that the functions of `PCMG` and
`PCGAMG` can be called with it before `PCSetUp()`. It reads its options, which begin with those of pc and
`pc_taskdag_mg_`, at the next set-up of pc, where pc has read its own.

.seealso: `PCTASKDAG`, `PCTaskDAGSetMG()`, `PCTaskDAGSetMGPCType()`, `PCMGSetInterpolation()`, `PCMGGetSmoother()`
@*/
PetscErrorCode PCTaskDAGGetMG(PC pc, PC* mg) {
  PetscFunctionBegin;
  bool ours = false;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(is_taskdag(pc, &ours));
  PetscCheck(ours, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_ARG_WRONG,
             "the preconditioner is not of type %s", PCTASKDAG);
  PetscCall(get_inner_mg(pc, mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}
