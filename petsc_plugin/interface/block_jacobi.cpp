// Of Jacobi sweeps with dense blocks.
#include "pc/access.hpp"

using namespace taskdag::petsc;

/*@
  PCTaskDAGJacobiSetBlocks - Sets where the blocks of Jacobi sweeps with the type block come from

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- blocks - their name

  Options Database Key:
. -pc_taskdag_jacobi_blocks <blocks>

  Level: advanced

  Note:
  auto, graph or matrix.

.seealso: `PCTASKDAG`, `PCTaskDAGJacobiGetBlocks()`
@*/
PetscErrorCode PCTaskDAGJacobiSetBlocks(PC pc, const char blocks[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(set_option(pc, "-pc_taskdag_jacobi_blocks", blocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGJacobiGetBlocks - Gets where the blocks of Jacobi sweeps with the type block come from

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. blocks - their name, which stays until it is set again

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGJacobiSetBlocks()`
@*/
PetscErrorCode PCTaskDAGJacobiGetBlocks(PC pc, const char* blocks[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, blocks,
                        [](const Settings& settings) { return block_source_name(settings.block_jacobi.source); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGJacobiSetBlockSize - Sets the rows that a block of the graph is to have, with the type block

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- rows - the value, 0 to 32

  Options Database Key:
. -pc_taskdag_jacobi_block_size <rows>

  Level: advanced

  Note:
  0: 4.

.seealso: `PCTASKDAG`, `PCTaskDAGJacobiGetBlockSize()`
@*/
PetscErrorCode PCTaskDAGJacobiSetBlockSize(PC pc, PetscInt rows) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, rows, 2);
  PetscCall(set_option(pc, "-pc_taskdag_jacobi_block_size", rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGJacobiGetBlockSize - Gets the rows that a block of the graph is to have, with the type block

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. rows - the value

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGJacobiSetBlockSize()`
@*/
PetscErrorCode PCTaskDAGJacobiGetBlockSize(PC pc, PetscInt* rows) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, rows, [](const Settings& settings) { return settings.block_jacobi.block_size; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
