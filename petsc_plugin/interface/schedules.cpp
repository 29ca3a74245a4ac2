// How sweeps and factorisations are run.
#include "options.hpp"
#include "pc/access.hpp"

using namespace taskdag;
using namespace taskdag::petsc;

/*@
  PCTaskDAGSetSchedule - Sets the schedule of the triangular sweeps

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- schedule - its name

  Options Database Key:
. -pc_taskdag_schedule <schedule>

  Level: advanced

  Note:
  Schedules change the time, not the result beyond rounding. Names are those of -help.

.seealso: `PCTASKDAG`, `PCTaskDAGGetSchedule()`
@*/
PetscErrorCode PCTaskDAGSetSchedule(PC pc, const char schedule[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(set_option(pc, "-pc_taskdag_schedule", schedule));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetSchedule - Gets the schedule of the triangular sweeps

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. schedule - its name, which stays until it is set again

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGSetSchedule()`
@*/
PetscErrorCode PCTaskDAGGetSchedule(PC pc, const char* schedule[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, schedule, [](const Settings& settings) { return to_string(settings.sweeps.schedule); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSetTune - Sets whether the schedule auto times some schedules at set-up and keeps the fastest

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- tune - the value

  Options Database Key:
. -pc_taskdag_tune <tune>

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGGetTune()`
@*/
PetscErrorCode PCTaskDAGSetTune(PC pc, PetscBool tune) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, tune, 2);
  PetscCall(set_option(pc, "-pc_taskdag_tune", tune));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetTune - Gets whether the schedule auto times some schedules at set-up and keeps the fastest

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. tune - the value

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGSetTune()`
@*/
PetscErrorCode PCTaskDAGGetTune(PC pc, PetscBool* tune) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, tune, [](const Settings& settings) { return to_petsc(settings.sweeps.tune); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSetTuneFile - Sets the file that keeps what tuning has found, for later runs

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- file - its name, or `NULL` for none

  Options Database Key:
. -pc_taskdag_tune_file <file>

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGGetTuneFile()`
@*/
PetscErrorCode PCTaskDAGSetTuneFile(PC pc, const char file[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  if (!file || !*file) {
    PetscCall(change_if_ours(pc, [](Settings& settings) { settings.sweeps.tune_file.clear(); }));
  } else {
    PetscCall(set_option(pc, "-pc_taskdag_tune_file", file));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetTuneFile - Gets the file that keeps what tuning has found, for later runs

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. file - its name, empty for none; it stays until it is set again

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGSetTuneFile()`
@*/
PetscErrorCode PCTaskDAGGetTuneFile(PC pc, const char* file[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, file, [](const Settings& settings) { return settings.sweeps.tune_file.c_str(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSetATAFlow - Sets how values reach the rows that wait for them under schedules ata-...

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- flow - its name

  Options Database Key:
. -pc_taskdag_ata_flow <flow>

  Level: advanced

  Note:
  pull or push; with push the last bits of a result change from run to run.

.seealso: `PCTASKDAG`, `PCTaskDAGGetATAFlow()`, `PCTaskDAGSetSchedule()`
@*/
PetscErrorCode PCTaskDAGSetATAFlow(PC pc, const char flow[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(set_option(pc, "-pc_taskdag_ata_flow", flow));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetATAFlow - Gets how values reach the rows that wait for them under schedules ata-...

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. flow - its name, which stays until it is set again

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGSetATAFlow()`
@*/
PetscErrorCode PCTaskDAGGetATAFlow(PC pc, const char* flow[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, flow, [](const Settings& settings) { return to_string(settings.sweeps.ata_flow); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSetATASize - Sets how many rows a task has under schedules and factor schedules ata-...

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- size - the name of the rule

  Options Database Key:
. -pc_taskdag_ata_size <size>

  Level: advanced

  Note:
  equations are the paper's, for which ata-concurrency and ata-locality time a kernel at set-up; warps_and_levels gives
  each warp that fits on the device a few rows, and each task a few levels.

.seealso: `PCTASKDAG`, `PCTaskDAGGetATASize()`, `PCTaskDAGSetSchedule()`, `PCTaskDAGSetFactorSchedule()`
@*/
PetscErrorCode PCTaskDAGSetATASize(PC pc, const char size[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(set_option(pc, "-pc_taskdag_ata_size", size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetATASize - Gets how many rows a task has under schedules and factor schedules ata-...

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. size - the name of the rule, which stays until it is set again

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGSetATASize()`
@*/
PetscErrorCode PCTaskDAGGetATASize(PC pc, const char* size[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, size, [](const Settings& settings) { return to_string(settings.sweeps.ata_size); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSetATARowsShareWarps - Sets whether short rows share warps under schedules ata-... and level-...

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- share - `PETSC_TRUE`: short rows of one level share a warp; `PETSC_FALSE`: each row has a warp

  Options Database Key:
. -pc_taskdag_ata_rows_share_warps <true,false>

  Level: advanced

  Note:
  The rows of the schedule self, and those of a factorisation, have a warp each in any case.

.seealso: `PCTASKDAG`, `PCTaskDAGGetATARowsShareWarps()`, `PCTaskDAGSetSchedule()`
@*/
PetscErrorCode PCTaskDAGSetATARowsShareWarps(PC pc, PetscBool share) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(set_option(pc, "-pc_taskdag_ata_rows_share_warps", to_text(share)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetATARowsShareWarps - Gets whether short rows share warps under schedules ata-... and level-...

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. share - whether they do

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGSetATARowsShareWarps()`
@*/
PetscErrorCode PCTaskDAGGetATARowsShareWarps(PC pc, PetscBool* share) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(
      get_setting(pc, share, [](const Settings& settings) { return to_petsc(settings.sweeps.ata_rows_share_warps); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSetOneBlockRows - Sets up to how many rows a factor on a GPU is made on the host and applied by one thread
block

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- rows - their number; 0: never; `PETSC_DECIDE`: up to 5000, for the first applications alone

  Options Database Key:
. -pc_taskdag_one_block_rows <rows>

  Level: advanced

  Note:
  It shortens set-ups of small matrices. It counts for the schedule auto, in double precision and without tuning.
  With `PETSC_DECIDE`, the default, the factor is made on the GPU after a number of applications that depends on the
  pattern; orderings, levels of fill and Eisenstat's trick that were asked for have it made there at once.

.seealso: `PCTASKDAG`, `PCTaskDAGGetOneBlockRows()`, `PCTaskDAGSetSchedule()`
@*/
PetscErrorCode PCTaskDAGSetOneBlockRows(PC pc, PetscInt rows) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, rows, 2);
  PetscCall(set_option(pc, "-pc_taskdag_one_block_rows", rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetOneBlockRows - Gets up to how many rows a factor on a GPU is made on the host and applied by one thread
block

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. rows - their number; 0: never; `PETSC_DECIDE`: see there

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGSetOneBlockRows()`
@*/
PetscErrorCode PCTaskDAGGetOneBlockRows(PC pc, PetscInt* rows) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(
      pc, rows, [](const Settings& settings) { return static_cast<PetscInt>(settings.sweeps.one_block_rows); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSetFactorSchedule - Sets who runs the rows of the numeric factorisation

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- schedule - its name

  Options Database Key:
. -pc_taskdag_factor_schedule <schedule>

  Level: advanced

  Note:
  auto, lists, engine, and on CUDA those of the schedules of sweeps that are made for comparison: level-launch,
  level-graph, level-barrier, self, ata-concurrency, ata-locality or ata-greedy.

.seealso: `PCTASKDAG`, `PCTaskDAGGetFactorSchedule()`
@*/
PetscErrorCode PCTaskDAGSetFactorSchedule(PC pc, const char schedule[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(set_option(pc, "-pc_taskdag_factor_schedule", schedule));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetFactorSchedule - Gets who runs the rows of the numeric factorisation

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. schedule - its name, which stays until it is set again

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGSetFactorSchedule()`
@*/
PetscErrorCode PCTaskDAGGetFactorSchedule(PC pc, const char* schedule[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(
      get_setting(pc, schedule, [](const Settings& settings) { return to_string(settings.sweeps.factor_schedule); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSetEngineScheduler - Sets who starts the tasks of the task engine

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- scheduler - its name

  Options Database Key:
. -pc_taskdag_engine_scheduler <scheduler>

  Level: advanced

  Note:
  megakernel, controller or timesliced; for the schedules engine and Jacobi forms by tasks.

.seealso: `PCTASKDAG`, `PCTaskDAGGetEngineScheduler()`
@*/
PetscErrorCode PCTaskDAGSetEngineScheduler(PC pc, const char scheduler[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(set_option(pc, "-pc_taskdag_engine_scheduler", scheduler));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetEngineScheduler - Gets who starts the tasks of the task engine

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. scheduler - its name, which stays until it is set again

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGSetEngineScheduler()`
@*/
PetscErrorCode PCTaskDAGGetEngineScheduler(PC pc, const char* scheduler[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, scheduler, [](const Settings& settings) { return scheduler_name(settings.sweeps); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSetEngineDependencies - Sets when tasks of the task engine start

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- dependencies - its name

  Options Database Key:
. -pc_taskdag_engine_dependencies <dependencies>

  Level: advanced

  Note:
  ordered, individual or phases; for the schedules engine.

.seealso: `PCTASKDAG`, `PCTaskDAGGetEngineDependencies()`
@*/
PetscErrorCode PCTaskDAGSetEngineDependencies(PC pc, const char dependencies[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(set_option(pc, "-pc_taskdag_engine_dependencies", dependencies));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetEngineDependencies - Gets when tasks of the task engine start

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. dependencies - its name, which stays until it is set again

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGSetEngineDependencies()`
@*/
PetscErrorCode PCTaskDAGGetEngineDependencies(PC pc, const char* dependencies[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, dependencies,
                        [](const Settings& settings) { return engine::to_string(settings.sweeps.run.dependencies); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGSetTrace - Sets the file for the tasks that the task engine has run

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, others than `PCTASKDAG` ignore this
- file - its name, or `NULL` for none

  Options Database Key:
. -pc_taskdag_trace <file>

  Level: advanced

  Note:
  A run without the task engine is an error of PCSetUp().

.seealso: `PCTASKDAG`, `PCTaskDAGGetTrace()`
@*/
PetscErrorCode PCTaskDAGSetTrace(PC pc, const char file[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  if (!file || !*file) {
    PetscCall(change_if_ours(pc, [](Settings& settings) {
      settings.sweeps.trace_file.clear();
      settings.sweeps.run.trace = false;
    }));
  } else {
    PetscCall(set_option(pc, "-pc_taskdag_trace", file));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTaskDAGGetTrace - Gets the file for the tasks that the task engine has run

  Not Collective

  Input Parameter:
. pc - the preconditioner, a `PCTASKDAG`

  Output Parameter:
. file - its name, empty for none; it stays until it is set again

  Level: advanced

.seealso: `PCTASKDAG`, `PCTaskDAGSetTrace()`
@*/
PetscErrorCode PCTaskDAGGetTrace(PC pc, const char* file[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(get_setting(pc, file, [](const Settings& settings) { return settings.sweeps.trace_file.c_str(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
