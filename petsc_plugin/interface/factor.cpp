// Of incomplete factorisations; what PETSc's PCFactor functions set comes by those.
#include "matfactor/factor_options.hpp"
#include "pc/access.hpp"

using namespace taskdag::petsc;

/*@
  PCTaskDAGSetOrdering - Sets the ordering of the factor

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- ordering - its name

  Options Database Key:
. -pc_taskdag_ordering <ordering>

  Level: advanced

  Note:
  auto, or any registered ordering; PCFactorSetMatOrderingType() sets the same.

.seealso: `PCTASKDAG`, `PCTaskDAGGetOrdering()`
@*/
PetscErrorCode PCTaskDAGSetOrdering(PC pc, const char ordering[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(set_option(pc, "-pc_taskdag_ordering", ordering));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetOrdering - Gets the ordering of the factor

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. ordering - its name, which stays until it is set again

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGSetOrdering()`
@*/
PetscErrorCode PCTaskDAGGetOrdering(PC pc, const char* ordering[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, ordering, [](const Settings& settings) { return settings.factor.ordering.c_str(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSetBMCBlockSize - Sets the number of rows in a block of the ordering taskdag_bmc

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner, others than `PCTASKDAG` ignore this
- rows - their number; 0: as -taskdag_bmc_block_size, which counts for all solvers

  Options Database Key:
. -pc_taskdag_bmc_block_size <rows>

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGGetBMCBlockSize()`, `PCTaskDAGSetOrdering()`
@*/
PetscErrorCode PCTaskDAGSetBMCBlockSize(PC pc, PetscInt rows) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, rows, 2);
  PetscCall(set_option(pc, "-pc_taskdag_bmc_block_size", rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetBMCBlockSize - Gets the number of rows in a block of the ordering taskdag_bmc

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. rows - their number; 0: as -taskdag_bmc_block_size

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGSetBMCBlockSize()`
@*/
PetscErrorCode PCTaskDAGGetBMCBlockSize(PC pc, PetscInt* rows) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, rows, [](const Settings& settings) { return settings.factor.block_size; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSetICCShift - Sets what ICC does at a bad pivot

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- shift - its name

  Options Database Key:
. -pc_taskdag_icc_shift <shift>

  Level: advanced

  Note:
  scaled, or petsc.

.seealso: `PCTASKDAG`, `PCTaskDAGGetICCShift()`
@*/
PetscErrorCode PCTaskDAGSetICCShift(PC pc, const char shift[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(set_option(pc, "-pc_taskdag_icc_shift", shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetICCShift - Gets what ICC does at a bad pivot

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. shift - its name, which stays until it is set again

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGSetICCShift()`
@*/
PetscErrorCode PCTaskDAGGetICCShift(PC pc, const char* shift[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, shift, [](const Settings& settings) { return icc_shift_name(settings.factor); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSetFill - Sets where levels of fill may be

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- fill - its name

  Options Database Key:
. -pc_taskdag_fill <fill>

  Level: advanced

  Note:
  all, or blocks.

.seealso: `PCTASKDAG`, `PCTaskDAGGetFill()`
@*/
PetscErrorCode PCTaskDAGSetFill(PC pc, const char fill[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(set_option(pc, "-pc_taskdag_fill", fill));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetFill - Gets where levels of fill may be

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. fill - its name, which stays until it is set again

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGSetFill()`
@*/
PetscErrorCode PCTaskDAGGetFill(PC pc, const char* fill[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, fill, [](const Settings& settings) { return fill_name(settings.factor.fill); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSetPrecision - Sets how the values of a factor are stored that an application reads

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- precision - its name

  Options Database Key:
. -pc_taskdag_precision <precision>

  Level: advanced

  Notes:
  auto, double, or single. Vectors, sums and the numeric factorisation are in double.

  A factor that does not fit into single precision is stored in double, and `PCView()` says so.

.seealso: `PCTASKDAG`, `PCTaskDAGGetPrecision()`
@*/
PetscErrorCode PCTaskDAGSetPrecision(PC pc, const char precision[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(set_option(pc, "-pc_taskdag_precision", precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetPrecision - Gets how the values of a factor are stored that an application reads

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. precision - its name, which stays until it is set again

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGSetPrecision()`
@*/
PetscErrorCode PCTaskDAGGetPrecision(PC pc, const char* precision[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, precision, [](const Settings& settings) { return to_string(settings.factor.precision); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSetPointBlock - Sets whether dense blocks of rows are taken as one

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- choice - its name

  Options Database Key:
. -pc_taskdag_point_block <choice>

  Level: advanced

  Note:
  auto, on, or off; for ILU, ICC and SOR.

.seealso: `PCTASKDAG`, `PCTaskDAGGetPointBlock()`
@*/
PetscErrorCode PCTaskDAGSetPointBlock(PC pc, const char choice[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(set_option(pc, "-pc_taskdag_point_block", choice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetPointBlock - Gets whether dense blocks of rows are taken as one

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. choice - its name, which stays until it is set again

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGSetPointBlock()`
@*/
PetscErrorCode PCTaskDAGGetPointBlock(PC pc, const char* choice[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(
      get_setting(pc, choice, [](const Settings& settings) { return point_block_name(settings.factor.point_block); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSetEisenstat - Sets whether Eisenstat's trick saves the products with the matrix

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- eisenstat - the value

  Options Database Key:
. -pc_taskdag_eisenstat <eisenstat>

  Level: advanced

  Note:
  For SOR, DILU, DIC, and ILU(0) and ICC(0) that are one of them.

.seealso: `PCTASKDAG`, `PCTaskDAGGetEisenstat()`
@*/
PetscErrorCode PCTaskDAGSetEisenstat(PC pc, PetscBool eisenstat) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, eisenstat, 2);
  PetscCall(set_option(pc, "-pc_taskdag_eisenstat", eisenstat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetEisenstat - Gets whether Eisenstat's trick saves the products with the matrix

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. eisenstat - the value

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGSetEisenstat()`
@*/
PetscErrorCode PCTaskDAGGetEisenstat(PC pc, PetscBool* eisenstat) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, eisenstat, [](const Settings& settings) { return to_petsc(settings.eisenstat); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSetEisenstatScaling - Sets what the system of Eisenstat's trick is scaled by

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- scaling - its name

  Options Database Key:
. -pc_taskdag_eisenstat_scaling <scaling>

  Level: advanced

  Note:
  none, or symmetric: by the square roots of the pivots from both sides, for the natural norm alone.

.seealso: `PCTASKDAG`, `PCTaskDAGGetEisenstatScaling()`, `PCTaskDAGSetEisenstat()`
@*/
PetscErrorCode PCTaskDAGSetEisenstatScaling(PC pc, const char scaling[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(set_option(pc, "-pc_taskdag_eisenstat_scaling", scaling));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetEisenstatScaling - Gets what the system of Eisenstat's trick is scaled by

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. scaling - its name, which stays until it is set again

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGSetEisenstatScaling()`
@*/
PetscErrorCode PCTaskDAGGetEisenstatScaling(PC pc, const char* scaling[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, scaling,
                        [](const Settings& settings) { return eisenstat_scaling_name(settings.eisenstat_scaling); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
