// Of SOR; what PETSc's PCSOR functions set comes by those.
#include "pc/access.hpp"

using namespace taskdag::petsc;

/*@
  PCTaskDAGSORSetDiagonalShift - Sets what SOR adds to diagonal entries

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- shift - the value

  Options Database Key:
. -pc_taskdag_sor_diagonal_shift <shift>

  Level: advanced

  Note:
  Nothing below 0 counts with omega 1, as in PCSOR.

.seealso: `PCTASKDAG`, `PCTaskDAGSORGetDiagonalShift()`
@*/
PetscErrorCode PCTaskDAGSORSetDiagonalShift(PC pc, PetscReal shift) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, shift, 2);
  PetscCall(set_option(pc, "-pc_taskdag_sor_diagonal_shift", shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSORGetDiagonalShift - Gets what SOR adds to diagonal entries

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. shift - the value

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGSORSetDiagonalShift()`
@*/
PetscErrorCode PCTaskDAGSORGetDiagonalShift(PC pc, PetscReal* shift) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, shift, [](const Settings& settings) { return settings.sor.shift; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
