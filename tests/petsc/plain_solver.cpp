/// \file
/// A PETSc program that knows nothing of the plugin: it comes by -dll_append, from the command line or PETSC_OPTIONS.
/// Runs PETSc once per round, from PetscInitialize() to PetscFinalize(). Prints "rounds: N, iterations: K K ...".
/// usage: plain_solver ROUNDS OPTIONS...
#include <petscksp.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#if defined(TASKDAG_LINKED)
#include "taskdagpetsc.h"
#endif

namespace {

PetscErrorCode solve(PetscInt* iterations) {
  PetscFunctionBeginUser;
  constexpr PetscInt n = 20;
  Mat a = nullptr;
  Vec b = nullptr;
  Vec x = nullptr;
  KSP ksp = nullptr;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscInt first = 0;
  PetscInt last = 0;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n, 5, nullptr, 4, nullptr, &a));
  PetscCall(MatGetOwnershipRange(a, &first, &last));
  for (PetscInt i = first; i < last; ++i) {
    PetscCall(MatSetValue(a, i, i, 4.0, INSERT_VALUES));
    if (i % n > 0) PetscCall(MatSetValue(a, i, i - 1, -1.0, INSERT_VALUES));
    if (i % n < n - 1) PetscCall(MatSetValue(a, i, i + 1, -1.0, INSERT_VALUES));
    if (i >= n) PetscCall(MatSetValue(a, i, i - n, -1.0, INSERT_VALUES));
    if (i < n * n - n) PetscCall(MatSetValue(a, i, i + n, -1.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(a, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, a, a));
#if defined(TASKDAG_LINKED)
  // A setter keeps nothing from -help.
  PC pc = nullptr;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCTASKDAG));
  PetscCall(PCTaskDAGSetThreads(pc, 1));
#endif
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "did not converge: %d", static_cast<int>(reason));
  PetscCall(KSPGetIterationNumber(ksp, iterations));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&a));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

}  // namespace

int main(int argc, char** argv) {
  // PETSc runs MPI's own initialisation only once: several rounds need it outside.
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS) return 1;
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 0;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::ostringstream counts;
  for (int round = 0; round < rounds; ++round) {
    PetscInt iterations = -1;
    if (PetscInitialize(&argc, &argv, nullptr, nullptr)) return 1;
#if defined(TASKDAG_LINKED)
    if (TaskDAGInitializePackage()) return 1;
    if (TaskDAGInitializePackage()) return 1;
#endif
    if (solve(&iterations)) return 1;
    if (PetscFinalize()) return 1;
    counts << ' ' << iterations;
  }
  if (rank == 0) std::printf("rounds: %d, iterations:%s\n", rounds, counts.str().c_str());
  return MPI_Finalize() == MPI_SUCCESS && rounds > 0 ? 0 : 1;
}
