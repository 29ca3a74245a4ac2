// What a preconditioner is and where it works.
#include "pc/access.hpp"

using namespace taskdag::petsc;

const char* const PCTaskDAGTypes[] = {"ilu", "icc",  "jacobi",        "sor",         "dilu",
                                      "dic", "auto", "PCTaskDAGType", "PC_TASKDAG_", nullptr};
const char* const PCTaskDAGBackends[] = {"auto", "cuda", "host", "PCTaskDAGBackend", "PC_TASKDAG_BACKEND_", nullptr};

/*MC
  PCTASKDAG - Incomplete factorisations, SOR and Jacobi sweeps as tasks that depend on each other, on a GPU or on host
  threads

  Options Database Keys:
+ -pc_taskdag_type <ilu,icc,jacobi,sor,dilu,dic,auto> - what it is; without it `PCTaskDAGSetType()` says what counts
- -pc_taskdag_backend <auto,cuda,host>                - where it works

  Level: beginner

  Notes:
  With the type and the ordering of PETSc's own preconditioner it is the same one, with as many iterations.

  On several ranks it works on the rows and columns of each, as block Jacobi with one block a rank.

  -help shows all options; the setters of `PCILU`, `PCICC`, `PCSOR` and `PCJACOBI` are taken, too.

.seealso: `PCTaskDAGSetType()`, `PCTaskDAGSetBackend()`, `PCILU`, `PCICC`, `PCSOR`, `PCJACOBI`
M*/

/*MC
  MATSOLVERTASKDAG - Incomplete factorisations by TaskDAG inside `PCILU` and `PCICC`, and wherever PETSc factors a
matrix incompletely

  Options Database Key:
. -pc_factor_mat_solver_type taskdag - takes it

  Level: beginner

.seealso: `PCTASKDAG`, `PCFactorSetMatSolverType()`
M*/

/*@
  PCTaskDAGSetType - Sets what a preconditioner does

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner, others than `PCTASKDAG` ignore this
- type - ILU, ICC, Jacobi, SOR, DILU, DIC, or a choice between a factorisation and Jacobi

  Options Database Key:
. -pc_taskdag_type <type>

  Level: beginner

  Notes:
  Another type than before discards what was set up.

  `PC_TASKDAG_AUTO` may take another preconditioner from one solve to the next, by the times that solves took.

  Where no type is set it is `PC_TASKDAG_AUTO`, and `PC_TASKDAG_ILU` as soon as something is set that says how a factor
  is made or applied: an ordering, levels of fill, a shift, a schedule, a precision. Without a type `PC_TASKDAG_AUTO`
  does not take Jacobi for a factor that cannot be set up.

.seealso: `PCTASKDAG`, `PCTaskDAGGetType()`
@*/
PetscErrorCode PCTaskDAGSetType(PC pc, PCTaskDAGType type) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, type, 2);
  PetscCheck(find_type(type), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "PCTaskDAGType %d is not known",
             static_cast<int>(type));
  PetscCall(set_option(pc, "-pc_taskdag_type", PCTaskDAGTypes[type]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetType - Gets what a preconditioner does

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. type - as it was set, or the one that counts without; `PC_TASKDAG_AUTO` whatever that has taken

  Level: beginner

.seealso: `PCTASKDAG`, `PCTaskDAGSetType()`
@*/
PetscErrorCode PCTaskDAGGetType(PC pc, PCTaskDAGType* type) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, type, [](const Settings& settings) { return settings.type; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSetBackend - Sets where a preconditioner works

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner, others than `PCTASKDAG` ignore this
- backend - a GPU, host threads, or a choice by where the data lives and by size

  Options Database Key:
. -pc_taskdag_backend <backend>

  Level: beginner

  Note:
  Another backend than before discards what was set up.

.seealso: `PCTASKDAG`, `PCTaskDAGGetBackend()`
@*/
PetscErrorCode PCTaskDAGSetBackend(PC pc, PCTaskDAGBackend backend) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, backend, 2);
  PetscCheck(backend >= PC_TASKDAG_BACKEND_AUTO && backend <= PC_TASKDAG_BACKEND_HOST, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "PCTaskDAGBackend %d is not known", static_cast<int>(backend));
  PetscCall(set_option(pc, "-pc_taskdag_backend", PCTaskDAGBackends[backend]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetBackend - Gets where a preconditioner is to work

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. backend - what was asked for; -ksp_view says what was chosen

  Level: beginner

.seealso: `PCTASKDAG`, `PCTaskDAGSetBackend()`
@*/
PetscErrorCode PCTaskDAGGetBackend(PC pc, PCTaskDAGBackend* backend) {
  static_assert(static_cast<int>(taskdag::Backend::automatic) == PC_TASKDAG_BACKEND_AUTO);
  static_assert(static_cast<int>(taskdag::Backend::cuda) == PC_TASKDAG_BACKEND_CUDA);
  static_assert(static_cast<int>(taskdag::Backend::host) == PC_TASKDAG_BACKEND_HOST);
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(
      pc, backend, [](const Settings& settings) { return static_cast<PCTaskDAGBackend>(settings.backend.wanted); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSetThreads - Sets the number of host threads of a rank

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- threads - the value

  Options Database Key:
. -pc_taskdag_threads <threads>

  Level: advanced

  Note:
  0 (the default) shares the processors among the ranks of a node.

.seealso: `PCTASKDAG`, `PCTaskDAGGetThreads()`
@*/
PetscErrorCode PCTaskDAGSetThreads(PC pc, PetscInt threads) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, threads, 2);
  PetscCall(set_option(pc, "-pc_taskdag_threads", threads));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetThreads - Gets the number of host threads of a rank

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. threads - the value

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGSetThreads()`
@*/
PetscErrorCode PCTaskDAGGetThreads(PC pc, PetscInt* threads) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, threads, [](const Settings& settings) { return settings.backend.threads; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSetConsolidate - Sets whose blocks are put together on several ranks

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner, others than `PCTASKDAG` ignore this
- mode - off, auto or on

  Options Database Key:
. -pc_taskdag_consolidate <mode> - whose blocks are put together

  Level: intermediate

  Notes:
  auto puts those of ranks together that share a GPU; one of them then works for all. on does the same, and on host
  threads with the ranks of a node. It is for the types ILU, ICC, DILU and DIC.

  Fewer and larger blocks are another preconditioner, with fewer iterations.

.seealso: `PCTASKDAG`, `PCTaskDAGGetConsolidate()`, `PCTaskDAGSetConsolidateRanks()`
@*/
PetscErrorCode PCTaskDAGSetConsolidate(PC pc, const char mode[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(set_option(pc, "-pc_taskdag_consolidate", mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetConsolidate - Gets whose blocks are put together on several ranks

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. mode - off, auto or on

  Level: intermediate

.seealso: `PCTASKDAG`, `PCTaskDAGSetConsolidate()`
@*/
PetscErrorCode PCTaskDAGGetConsolidate(PC pc, const char* mode[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(
      get_setting(pc, mode, [](const Settings& settings) { return consolidate_name(settings.consolidate.mode); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSetConsolidateRanks - Sets the most ranks whose blocks are put together

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner, others than `PCTASKDAG` ignore this
- ranks - their number; 0: all that share

  Options Database Key:
. -pc_taskdag_consolidate_ranks <ranks> - the most ranks

  Level: intermediate

.seealso: `PCTASKDAG`, `PCTaskDAGGetConsolidateRanks()`, `PCTaskDAGSetConsolidate()`
@*/
PetscErrorCode PCTaskDAGSetConsolidateRanks(PC pc, PetscInt ranks) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, ranks, 2);
  PetscCall(set_option(pc, "-pc_taskdag_consolidate_ranks", ranks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetConsolidateRanks - Gets the most ranks whose blocks are put together

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. ranks - their number; 0: all that share

  Level: intermediate

.seealso: `PCTASKDAG`, `PCTaskDAGSetConsolidateRanks()`
@*/
PetscErrorCode PCTaskDAGGetConsolidateRanks(PC pc, PetscInt* ranks) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, ranks, [](const Settings& settings) { return settings.consolidate.ranks; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
