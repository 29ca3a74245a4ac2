/* A plain C application that links TaskDAG's plugin: the Poisson equation on a square, CG with TaskDAG's incomplete
 * Cholesky factorisation, chosen in code; every -ksp_* and -pc_* option still works. */
#include <petscksp.h>
#include <taskdagpetsc.h>

/* The five-point matrix of an n x n grid; each rank sets its own rows. */
static PetscErrorCode assemble(PetscInt n, Mat *a)
{
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, a));
  PetscCall(MatSetSizes(*a, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetFromOptions(*a));
  PetscCall(MatSeqAIJSetPreallocation(*a, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*a, 5, NULL, 4, NULL));
  PetscCall(MatGetOwnershipRange(*a, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    const PetscInt x = row % n, y = row / n;

    PetscCall(MatSetValue(*a, row, row, 4.0, INSERT_VALUES));
    if (x > 0) PetscCall(MatSetValue(*a, row, row - 1, -1.0, INSERT_VALUES));
    if (x < n - 1) PetscCall(MatSetValue(*a, row, row + 1, -1.0, INSERT_VALUES));
    if (y > 0) PetscCall(MatSetValue(*a, row, row - n, -1.0, INSERT_VALUES));
    if (y < n - 1) PetscCall(MatSetValue(*a, row, row + n, -1.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*a, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat                a;
  Vec                x, b;
  KSP                ksp;
  PC                 pc;
  PetscInt           n = 64, iterations;
  PetscReal          error;
  KSPConvergedReason reason;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(TaskDAGInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));

  /* b = A (1, 1, ..., 1), so the error of the solution is known. */
  PetscCall(assemble(n, &a));
  PetscCall(MatCreateVecs(a, &x, &b));
  PetscCall(VecSet(x, 1.0));
  PetscCall(MatMult(a, x, b));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, a, a));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCTASKDAG));
  PetscCall(PCTaskDAGSetType(pc, PC_TASKDAG_ICC));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));

  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(VecShift(x, -1.0));
  PetscCall(VecNorm(x, NORM_INFINITY, &error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s after %d iterations, largest error %.2e\n", KSPConvergedReasons[reason],
                        (int)iterations, (double)error));

  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&a));
  PetscCall(PetscFinalize());
  return reason > 0 && error < 1e-6 ? 0 : 2;
}
