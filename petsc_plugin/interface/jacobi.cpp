// Of Jacobi sweeps; PCJacobiSetType(), PCJacobiSetUseAbs() and PCJacobiSetRowl1Scale() are taken, too.
#include "pc/access.hpp"

using namespace taskdag::petsc;

/*@
  PCTaskDAGJacobiSetSweeps - Sets the number of sweeps in an application

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- sweeps - the value

  Options Database Key:
. -pc_taskdag_jacobi_sweeps <sweeps>

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGJacobiGetSweeps()`
@*/
PetscErrorCode PCTaskDAGJacobiSetSweeps(PC pc, PetscInt sweeps) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, sweeps, 2);
  PetscCall(set_option(pc, "-pc_taskdag_jacobi_sweeps", sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGJacobiGetSweeps - Gets the number of sweeps in an application

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. sweeps - the value

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGJacobiSetSweeps()`
@*/
PetscErrorCode PCTaskDAGJacobiGetSweeps(PC pc, PetscInt* sweeps) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, sweeps, [](const Settings& settings) { return PetscInt{settings.jacobi.sweeps}; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGJacobiSetDamping - Sets the factor on each correction

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- damping - the value

  Options Database Key:
. -pc_taskdag_jacobi_damping <damping>

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGJacobiGetDamping()`
@*/
PetscErrorCode PCTaskDAGJacobiSetDamping(PC pc, PetscReal damping) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, damping, 2);
  PetscCall(set_option(pc, "-pc_taskdag_jacobi_damping", damping));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGJacobiGetDamping - Gets the factor on each correction

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. damping - the value

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGJacobiSetDamping()`
@*/
PetscErrorCode PCTaskDAGJacobiGetDamping(PC pc, PetscReal* damping) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, damping, [](const Settings& settings) { return settings.jacobi.damping; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGJacobiSetType - Sets what the sweeps divide by

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- type - its name

  Options Database Key:
. -pc_taskdag_jacobi_type <type>

  Level: advanced

  Note:
  diagonal, rowmax, rowsum, rowl1 or block.

.seealso: `PCTASKDAG`, `PCTaskDAGJacobiGetType()`
@*/
PetscErrorCode PCTaskDAGJacobiSetType(PC pc, const char type[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(set_option(pc, "-pc_taskdag_jacobi_type", type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGJacobiGetType - Gets what the sweeps divide by

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. type - its name, which stays until it is set again

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGJacobiSetType()`
@*/
PetscErrorCode PCTaskDAGJacobiGetType(PC pc, const char* type[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, type, jacobi_type_name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGJacobiSetRowl1Scale - Sets the factor on the absolute values beside the diagonal, with the type rowl1

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- scale - the value

  Options Database Key:
. -pc_taskdag_jacobi_rowl1_scale <scale>

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGJacobiGetRowl1Scale()`
@*/
PetscErrorCode PCTaskDAGJacobiSetRowl1Scale(PC pc, PetscReal scale) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, scale, 2);
  PetscCall(set_option(pc, "-pc_taskdag_jacobi_rowl1_scale", scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGJacobiGetRowl1Scale - Gets the factor on the absolute values beside the diagonal, with the type rowl1

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. scale - the value

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGJacobiSetRowl1Scale()`
@*/
PetscErrorCode PCTaskDAGJacobiGetRowl1Scale(PC pc, PetscReal* scale) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, scale, [](const Settings& settings) { return settings.jacobi.l1_scale; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGJacobiSetUseAbs - Sets whether the sweeps divide by absolute values

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- use - the value

  Options Database Key:
. -pc_taskdag_jacobi_abs <use>

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGJacobiGetUseAbs()`
@*/
PetscErrorCode PCTaskDAGJacobiSetUseAbs(PC pc, PetscBool use) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, use, 2);
  PetscCall(set_option(pc, "-pc_taskdag_jacobi_abs", use));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGJacobiGetUseAbs - Gets whether the sweeps divide by absolute values

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. use - the value

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGJacobiSetUseAbs()`
@*/
PetscErrorCode PCTaskDAGJacobiGetUseAbs(PC pc, PetscBool* use) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, use, [](const Settings& settings) { return to_petsc(settings.jacobi.absolute); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGJacobiSetWeights - Sets the weights of several sweeps

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- weights - constant or chebyshev

  Options Database Key:
. -pc_taskdag_jacobi_weights <weights>

  Level: advanced

  Note:
  Those of Chebyshev's polynomial of the fourth kind are for smoothing: the damping is then the inverse of the largest
  eigenvalue of the matrix divided by its diagonal, and 1 with the type rowl1. In `KSPRICHARDSON` such sweeps go on from
  the vector that is there, without a residual and without a look at tolerances, as `PCSOR` does.

.seealso: `PCTASKDAG`, `PCTaskDAGJacobiGetWeights()`
@*/
PetscErrorCode PCTaskDAGJacobiSetWeights(PC pc, const char weights[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(set_option(pc, "-pc_taskdag_jacobi_weights", weights));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGJacobiGetWeights - Gets the weights of several sweeps

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. weights - constant or chebyshev

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGJacobiSetWeights()`
@*/
PetscErrorCode PCTaskDAGJacobiGetWeights(PC pc, const char* weights[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, weights, [](const Settings& settings) { return to_string(settings.jacobi.weights); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGJacobiSetForm - Sets how several sweeps are run

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- form - its name

  Options Database Key:
. -pc_taskdag_jacobi_form <form>

  Level: advanced

  Note:
  Forms change the time, not the result. Names are those of -help.

.seealso: `PCTASKDAG`, `PCTaskDAGJacobiGetForm()`
@*/
PetscErrorCode PCTaskDAGJacobiSetForm(PC pc, const char form[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(set_option(pc, "-pc_taskdag_jacobi_form", form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGJacobiGetForm - Gets how several sweeps are run

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. form - its name, which stays until it is set again

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGJacobiSetForm()`
@*/
PetscErrorCode PCTaskDAGJacobiGetForm(PC pc, const char* form[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, form, [](const Settings& settings) { return to_string(settings.jacobi.form); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGJacobiSetPartEntries - Sets the number of matrix entries for a task

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- entries - the value

  Options Database Key:
. -pc_taskdag_jacobi_part_entries <entries>

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGJacobiGetPartEntries()`
@*/
PetscErrorCode PCTaskDAGJacobiSetPartEntries(PC pc, PetscInt entries) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, entries, 2);
  PetscCall(set_option(pc, "-pc_taskdag_jacobi_part_entries", entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGJacobiGetPartEntries - Gets the number of matrix entries for a task

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. entries - the value

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGJacobiSetPartEntries()`
@*/
PetscErrorCode PCTaskDAGJacobiGetPartEntries(PC pc, PetscInt* entries) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, entries, [](const Settings& settings) { return PetscInt{settings.jacobi.part_entries}; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGJacobiSetLongRow - Sets the number of entries from which a row is shared out to several tasks

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- entries - the value

  Options Database Key:
. -pc_taskdag_jacobi_long_row <entries>

  Level: advanced

  Note:
  0: none is.

.seealso: `PCTASKDAG`, `PCTaskDAGJacobiGetLongRow()`
@*/
PetscErrorCode PCTaskDAGJacobiSetLongRow(PC pc, PetscInt entries) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, entries, 2);
  PetscCall(set_option(pc, "-pc_taskdag_jacobi_long_row", entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGJacobiGetLongRow - Gets the number of entries from which a row is shared out to several tasks

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. entries - the value

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGJacobiSetLongRow()`
@*/
PetscErrorCode PCTaskDAGJacobiGetLongRow(PC pc, PetscInt* entries) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, entries, [](const Settings& settings) { return PetscInt{settings.jacobi.long_row}; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
