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
  PC_TASKDAG_SOR     /**< reserved; refused with PETSC_ERR_SUP in this version */
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

/** Chooses what a PCTASKDAG does; discards what it had set up. Ignored by other preconditioners. */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetType(PC pc, PCTaskDAGType type);

/** Chooses where a PCTASKDAG works; discards what it had set up. Ignored by other preconditioners. */
TASKDAGPETSC_API PetscErrorCode PCTaskDAGSetBackend(PC pc, PCTaskDAGBackend backend);

#ifdef __cplusplus
}
#endif

#endif
