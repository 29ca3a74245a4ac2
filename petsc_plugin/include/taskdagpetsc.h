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
/** Aggregates of GAMG by TaskDAG (MatCoarsenSetType, -pc_gamg_mat_coarsen_type). */
#define MATCOARSENTASKDAG "taskdag"

/** Where PCTASKDAG works (-pc_taskdag_backend). */
typedef enum {
  PC_TASKDAG_BACKEND_AUTO, /**< CUDA for device data and for large matrices where a GPU is found, else host threads */
  PC_TASKDAG_BACKEND_CUDA, /**< CUDA, an error where no GPU is usable */
  PC_TASKDAG_BACKEND_HOST  /**< host threads */
} PCTaskDAGBackend;

/* The types, and a setter and a getter for each option -pc_taskdag_... */
#include <taskdagpetsc_settings.h>

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
 * Errors: PETSC_ERR_LIB where the running PETSc is another minor version than the one that the plugin was compiled for,
 * or another patch release that lays out otherwise what the plugin uses.
 */
TASKDAGPETSC_API PetscErrorCode TaskDAGInitializePackage(void);

/** Ends threads and releases device resources. PetscFinalize() calls it. */
TASKDAGPETSC_API PetscErrorCode TaskDAGFinalizePackage(void);

/** Entry point of -dll_append; the same as TaskDAGInitializePackage(). */
TASKDAGPETSC_API PetscErrorCode PetscDLLibraryRegister_petsctaskdag(void);

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

/* Multigrid: PCMG, PCGAMG, PCHMG. */

/**
 * Whether preconditioners of these types that are set up from now on are applied by TaskDAG (`-taskdag_mg`, which
 * counts where it is given). Logically collective on PETSC_COMM_WORLD.
 */
TASKDAGPETSC_API PetscErrorCode TaskDAGSetMG(PetscBool use);

/**
 * The PC of one of these types that a PCTASKDAG of type PC_TASKDAG_MG sets up, and whose cycle it applies. The getter
 * makes one where there is none, of the type that PCTaskDAGSetMGPCType() says; its options begin with those of pc and
 * `pc_taskdag_mg_`, and the reference stays pc's. The setter takes one that the application has made and goes on to
 * own, with its options and type as they are; null: one of pc's own again. Logically collective, the first getter
 * collective.
 *
 * Errors: PETSC_ERR_ARG_WRONG where pc is not a PCTASKDAG; a setter of others is ignored.
 */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetMG(PC pc, PC mg);
TASKDAGPETSC_API PetscErrorCode PCTaskDAGGetMG(PC pc, PC* mg);

#ifdef __cplusplus
}
#endif

#endif
