// MatSOR() of PETSc's own matrix types by us.
#include "matsor/mat_sor.hpp"

#include "boundary.hpp"
#include "shared_error.hpp"
#include "taskdagpetsc.h"

using namespace taskdag::petsc;

/*@
  TaskDAGSetMatSOR - Sets whether `MatSOR()` of PETSc's own matrix types is TaskDAG's

  Collective on `PETSC_COMM_WORLD`

  Input Parameter:
. use - whether it is

  Options Database Key:
. -taskdag_mat_sor <bool> - the same, when the plugin is loaded

  Level: intermediate

  Notes:
  Counts for matrices that get the type `MATSEQAIJ`, `MATSEQAIJCUSPARSE` or `MATSEQAIJKOKKOS` after the call, those that
  PETSc makes for itself included; the ranks' own blocks of a matrix on several ranks have such types. So `PCSOR`,
  `PCEISENSTAT` and smoothers of multigrid sweep on the GPU where the matrix lies there.

  Results are those of `MatSOR()` without inodes (`-mat_no_inode`), up to rounding.

.seealso: `MatTaskDAGSetSOR()`, `MatSOR()`, `PCSOR`, `PCEISENSTAT`
@*/
PetscErrorCode TaskDAGSetMatSOR(PetscBool use) {
  PetscFunctionBegin;
  PetscCall(use_mat_sor_for_types(use == PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatTaskDAGSetSOR - Sets whether `MatSOR()` of a matrix is TaskDAG's

  Logically Collective

  Input Parameters:
+ mat - a matrix of type `MATAIJ` or one derived of it, or of type `MATBAIJ`, whose point blocks are swept
- use - whether it is

  Level: intermediate

.seealso: `TaskDAGSetMatSOR()`, `MatTaskDAGGetSOR()`, `MatSOR()`
@*/
PetscErrorCode MatTaskDAGSetSOR(Mat mat, PetscBool use) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(mat, MAT_CLASSID, 1);
  PetscValidType(mat, 1);
  PetscValidLogicalCollectiveBool(mat, use, 2);
  PetscCall(share_error(PetscObjectComm(reinterpret_cast<PetscObject>(mat)), use_mat_sor(mat, use == PETSC_TRUE)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatTaskDAGGetSOR - Gets whether `MatSOR()` of a matrix is TaskDAG's

  Not Collective

  Input Parameter:
. mat - the matrix

  Output Parameter:
. use - whether it is

  Level: intermediate

.seealso: `MatTaskDAGSetSOR()`
@*/
PetscErrorCode MatTaskDAGGetSOR(Mat mat, PetscBool* use) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(mat, MAT_CLASSID, 1);
  PetscValidType(mat, 1);
  bool ours = false;
  PetscCall(uses_mat_sor(mat, &ours));
  *use = to_petsc(ours);
  PetscFunctionReturn(PETSC_SUCCESS);
}
