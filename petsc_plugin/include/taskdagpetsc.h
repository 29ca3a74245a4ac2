/** \file
 * TaskDAG for PETSc: what an application calls that links the plugin or sets its options in code.
 *
 * An application that loads the plugin with -dll_append needs none of this.
 */
#ifndef TASKDAGPETSC_H
#define TASKDAGPETSC_H

#include <petscpc.h>

#if defined(__GNUC__) || defined(__clang__)
#define TASKDAGPETSC_API __attribute__((visibility("default")))
#else
#define TASKDAGPETSC_API
#endif

/** The preconditioner (PCSetType, -pc_type). */
#define PCTASKDAG "taskdag"
/** The matrix factorisation package (PCFactorSetMatSolverType, -pc_factor_mat_solver_type). */
#define MATSOLVERTASKDAG "taskdag"
/** Reverse Cuthill-McKee by TaskDAG (PCFactorSetMatOrderingType, -pc_factor_mat_ordering_type). */
#define MATORDERINGTASKDAGRCM "taskdag_rcm"
/** Multicolour ordering: rows of one colour are independent. */
#define MATORDERINGTASKDAGCOLOR "taskdag_color"
/** Block multicolour ordering: compact blocks, those of one colour independent (-taskdag_bmc_block_size). */
#define MATORDERINGTASKDAGBMC "taskdag_bmc"

/** What PCTASKDAG does (-pc_taskdag_type). */
typedef enum {
  PC_TASKDAG_ILU,    /**< incomplete LU; levels of fill by PCFactorSetLevels() */
  PC_TASKDAG_ICC,    /**< incomplete Cholesky; levels of fill likewise */
  PC_TASKDAG_JACOBI, /**< damped Jacobi sweeps */
  PC_TASKDAG_SOR,    /**< SOR and SSOR sweeps; parameters by PCSORSetOmega() and the like */
  PC_TASKDAG_DILU,   /**< incomplete LU whose elimination changes the diagonal alone */
  PC_TASKDAG_DIC,    /**< incomplete Cholesky likewise */
  PC_TASKDAG_AUTO    /**< ILU or ICC, or Jacobi: what is expected to be faster, in later solves what was */
} PCTaskDAGType;

/** Where PCTASKDAG works (-pc_taskdag_backend). */
typedef enum {
  PC_TASKDAG_BACKEND_AUTO, /**< CUDA for device data and for large matrices where a GPU is found, else host threads */
  PC_TASKDAG_BACKEND_CUDA, /**< CUDA, an error where no GPU is usable */
  PC_TASKDAG_BACKEND_HOST  /**< host threads */
} PCTaskDAGBackend;

#ifdef __cplusplus
extern "C" {
#endif

/** The names that the options take, in the order of the enumerations; then the enumeration, its prefix, NULL. */
TASKDAGPETSC_API extern const char* const PCTaskDAGTypes[];
TASKDAGPETSC_API extern const char* const PCTaskDAGBackends[];

/**
 * Registers the preconditioner, the factorisation package and the orderings. Call it after PetscInitialize(); calling
 * it again before PetscFinalize() does nothing. Collective on PETSC_COMM_WORLD.
 *
 * Errors: PETSC_ERR_LIB where the running PETSc is another version than the one that the plugin was compiled for.
 */
TASKDAGPETSC_API PetscErrorCode TaskDAGInitializePackage(void);

/** Ends threads and releases device resources. PetscFinalize() calls it. */
TASKDAGPETSC_API PetscErrorCode TaskDAGFinalizePackage(void);

/** Entry point of -dll_append; the same as TaskDAGInitializePackage(). */
TASKDAGPETSC_API PetscErrorCode PetscDLLibraryRegister_petsctaskdag(void);

/* Setters take what the options take, and return PETSC_ERR_ARG_OUTOFRANGE for other values. A new value discards what
 * was set up with another one, as far as it depends on that; a new pivot tolerance or shift amount costs a numeric
 * phase. Preconditioners of other types ignore setters; getters return PETSC_ERR_ARG_WRONG for them. Setters are
 * logically collective on the PC. */

/**
 * Chooses what a PCTASKDAG does. Without it PC_TASKDAG_AUTO; PC_TASKDAG_ILU as soon as something is set that says how a
 * factor is made or applied (ordering, levels, shift, schedule, precision, Eisenstat's trick, consolidation).
 */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetType(PC pc, PCTaskDAGType type);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetType(PC pc, PCTaskDAGType* type);

/** Chooses where a PCTASKDAG works. */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetBackend(PC pc, PCTaskDAGBackend backend);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetBackend(PC pc, PCTaskDAGBackend* backend);
/**
 * The number of host threads of a rank (`-pc_taskdag_threads`). 0 (the default) shares the processors among the
 * ranks of a node.
 */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetThreads(PC pc, PetscInt threads);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetThreads(PC pc, PetscInt* threads);

/**
 * Whose blocks are put together on several ranks (`-pc_taskdag_consolidate`): off (the default), auto (of ranks that
 * share a GPU) or on (on host threads, of the ranks of a node, too). Another preconditioner, with fewer blocks.
 */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetConsolidate(PC pc, const char mode[]);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetConsolidate(PC pc, const char* mode[]);

/** The most ranks whose blocks are put together (`-pc_taskdag_consolidate_ranks`). 0 (the default): all that share. */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetConsolidateRanks(PC pc, PetscInt ranks);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetConsolidateRanks(PC pc, PetscInt* ranks);

/* How sweeps and factorisations are run. */

/**
 * The schedule of the triangular sweeps (`-pc_taskdag_schedule`). Schedules change the time, not the result beyond
 * rounding. Names are those of -help.
 */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetSchedule(PC pc, const char schedule[]);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetSchedule(PC pc, const char* schedule[]);

/** Whether the schedule auto times some schedules at set-up and keeps the fastest (`-pc_taskdag_tune`). */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetTune(PC pc, PetscBool tune);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetTune(PC pc, PetscBool* tune);

/** The file that keeps what tuning has found, for later runs (`-pc_taskdag_tune_file`). */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetTuneFile(PC pc, const char file[]);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetTuneFile(PC pc, const char* file[]);

/**
 * How values reach the rows that wait for them under schedules ata-... (`-pc_taskdag_ata_flow`). pull or push; with
 * push the last bits of a result change from run to run.
 */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetATAFlow(PC pc, const char flow[]);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetATAFlow(PC pc, const char* flow[]);

/**
 * How many rows a task has under schedules and factor schedules ata-... (`-pc_taskdag_ata_size`). equations, the
 * paper's, or warps_and_levels: a few rows for each warp that fits on the device, a few levels for each task.
 */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetATASize(PC pc, const char size[]);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetATASize(PC pc, const char* size[]);

/**
 * Whether short rows of one level share a warp under schedules ata-... and level-...
 * (`-pc_taskdag_ata_rows_share_warps`), or each row has one, as under self and in factorisations.
 */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetATARowsShareWarps(PC pc, PetscBool share);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetATARowsShareWarps(PC pc, PetscBool* share);

/**
 * Up to how many rows a factor on a GPU is made on the host and applied by one thread block
 * (`-pc_taskdag_one_block_rows`). 0: never. PETSC_DECIDE, the default: up to 5000, and for the first applications
 * alone, where ordering and fill are the default.
 */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetOneBlockRows(PC pc, PetscInt rows);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetOneBlockRows(PC pc, PetscInt* rows);

/** Who runs the rows of the numeric factorisation (`-pc_taskdag_factor_schedule`). auto, lists, engine, and on CUDA
 * level-launch, level-graph, level-barrier, self, ata-concurrency, ata-locality, ata-greedy. */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetFactorSchedule(PC pc, const char schedule[]);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetFactorSchedule(PC pc, const char* schedule[]);

/**
 * Who starts the tasks of the task engine (`-pc_taskdag_engine_scheduler`). megakernel, controller or timesliced;
 * for the schedules engine and Jacobi forms by tasks.
 */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetEngineScheduler(PC pc, const char scheduler[]);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetEngineScheduler(PC pc, const char* scheduler[]);

/**
 * When tasks of the task engine start (`-pc_taskdag_engine_dependencies`). ordered, individual or phases; for the
 * schedules engine.
 */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetEngineDependencies(PC pc, const char dependencies[]);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetEngineDependencies(PC pc, const char* dependencies[]);

/**
 * The file for the tasks that the task engine has run (`-pc_taskdag_trace`). A run without the task engine is an
 * error of PCSetUp().
 */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetTrace(PC pc, const char file[]);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetTrace(PC pc, const char* file[]);

/* Of incomplete factorisations; what PETSc's PCFactor functions set comes by those. */

/**
 * The ordering of the factor (`-pc_taskdag_ordering`). auto, or any registered ordering;
 * PCFactorSetMatOrderingType() sets the same.
 */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetOrdering(PC pc, const char ordering[]);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetOrdering(PC pc, const char* ordering[]);

/** Rows in a block of taskdag_bmc (`-pc_taskdag_bmc_block_size`). 0 (the default): as `-taskdag_bmc_block_size`. */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetBMCBlockSize(PC pc, PetscInt rows);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetBMCBlockSize(PC pc, PetscInt* rows);

/** What ICC does at a bad pivot (`-pc_taskdag_icc_shift`). scaled, or petsc. */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetICCShift(PC pc, const char shift[]);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetICCShift(PC pc, const char* shift[]);

/** Whether dense blocks of rows are taken as one (`-pc_taskdag_point_block`). auto, on, or off. */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetPointBlock(PC pc, const char choice[]);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetPointBlock(PC pc, const char* choice[]);

/** Where levels of fill may be (`-pc_taskdag_fill`). all, or blocks. */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetFill(PC pc, const char fill[]);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetFill(PC pc, const char* fill[]);

/** How the values of a factor are stored that an application reads (`-pc_taskdag_precision`): auto, double, single. */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetPrecision(PC pc, const char precision[]);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetPrecision(PC pc, const char* precision[]);

/**
 * Whether Eisenstat's trick saves the products with the matrix (`-pc_taskdag_eisenstat`). For SOR, DILU, DIC, and
 * ILU(0) and ICC(0) that are one of them.
 */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetEisenstat(PC pc, PetscBool eisenstat);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetEisenstat(PC pc, PetscBool* eisenstat);

/** What the system of Eisenstat's trick is scaled by (`-pc_taskdag_eisenstat_scaling`). none or symmetric. */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetEisenstatScaling(PC pc, const char scaling[]);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetEisenstatScaling(PC pc, const char* scaling[]);

/* Of Jacobi sweeps; PCJacobiSetType(), PCJacobiSetUseAbs() and PCJacobiSetRowl1Scale() are taken, too. */

/** The number of sweeps in an application (`-pc_taskdag_jacobi_sweeps`). */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGJacobiSetSweeps(PC pc, PetscInt sweeps);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGJacobiGetSweeps(PC pc, PetscInt* sweeps);

/** The factor on each correction (`-pc_taskdag_jacobi_damping`). */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGJacobiSetDamping(PC pc, PetscReal damping);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGJacobiGetDamping(PC pc, PetscReal* damping);

/** The weights of several sweeps (`-pc_taskdag_jacobi_weights`). constant or chebyshev. */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGJacobiSetWeights(PC pc, const char weights[]);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGJacobiGetWeights(PC pc, const char* weights[]);

/** What the sweeps divide by (`-pc_taskdag_jacobi_type`). diagonal, rowmax, rowsum, rowl1 or block. */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGJacobiSetType(PC pc, const char type[]);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGJacobiGetType(PC pc, const char* type[]);

/** The factor on the absolute values beside the diagonal, with the type rowl1 (`-pc_taskdag_jacobi_rowl1_scale`). */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGJacobiSetRowl1Scale(PC pc, PetscReal scale);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGJacobiGetRowl1Scale(PC pc, PetscReal* scale);

/** Whether the sweeps divide by absolute values (`-pc_taskdag_jacobi_abs`). */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGJacobiSetUseAbs(PC pc, PetscBool use);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGJacobiGetUseAbs(PC pc, PetscBool* use);

/**
 * How several sweeps are run (`-pc_taskdag_jacobi_form`). Forms change the time, not the result. Names are those
 * of -help.
 */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGJacobiSetForm(PC pc, const char form[]);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGJacobiGetForm(PC pc, const char* form[]);

/** The number of matrix entries for a task (`-pc_taskdag_jacobi_part_entries`). */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGJacobiSetPartEntries(PC pc, PetscInt entries);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGJacobiGetPartEntries(PC pc, PetscInt* entries);

/**
 * The number of entries from which a row is shared out to several tasks (`-pc_taskdag_jacobi_long_row`). 0: none
 * is.
 */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGJacobiSetLongRow(PC pc, PetscInt entries);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGJacobiGetLongRow(PC pc, PetscInt* entries);

/** Where the blocks of the type block come from (`-pc_taskdag_jacobi_blocks`). auto, graph or matrix. */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGJacobiSetBlocks(PC pc, const char blocks[]);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGJacobiGetBlocks(PC pc, const char* blocks[]);

/** The rows that a block of the graph is to have (`-pc_taskdag_jacobi_block_size`), 0 to 32. 0: 4. */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGJacobiSetBlockSize(PC pc, PetscInt rows);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGJacobiGetBlockSize(PC pc, PetscInt* rows);

/* Of SOR; what PETSc's PCSOR functions set comes by those. */

/**
 * What SOR adds to diagonal entries (`-pc_taskdag_sor_diagonal_shift`). Nothing below 0 counts with omega 1, as in
 * PCSOR.
 */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSORSetDiagonalShift(PC pc, PetscReal shift);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSORGetDiagonalShift(PC pc, PetscReal* shift);

/* MatSOR(), which PCSOR, PCEISENSTAT and smoothers of multigrid call. */

/**
 * Whether MatSOR() is TaskDAG's for matrices that get the type MATSEQAIJ, MATSEQAIJCUSPARSE or MATSEQAIJKOKKOS from now
 * on, the ranks' own blocks of other ones included (`-taskdag_mat_sor`). Collective on PETSC_COMM_WORLD.
 */
TASKDAGPETSC_API PetscErrorCode TaskDAGSetMatSOR(PetscBool use);

/**
 * The same of one matrix, a MATAIJ or one derived of it, or a MATBAIJ, whose point blocks are swept and which has to
 * have its memory. Logically collective.
 *
 * Errors: PETSC_ERR_SUP for matrices of other types.
 */
TASKDAGPETSC_API PetscErrorCode MatTaskDAGSetSOR(Mat mat, PetscBool use);
TASKDAGPETSC_API PetscErrorCode MatTaskDAGGetSOR(Mat mat, PetscBool* use);

#ifdef __cplusplus
}
#endif

#endif
