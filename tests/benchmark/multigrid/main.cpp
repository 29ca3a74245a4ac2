// Solves a problem on a regular grid with what the options say, and prints how it went in the lines of examples/solve.
#include <petscksp.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "problems.hpp"

namespace {

using taskdag::benchmark::MultigridProblem;

constexpr const char* kHelp =
    "Solves a problem on a regular grid.\n"
    "  -problem NAME   poisson, jumps, anisotropic or elasticity [poisson]\n"
    "  -n N            nodes along each axis [17]\n"
    "  -warm_up        set up and solve once beforehand\n"
    "  -repeat N       solve N times, for timing [1]\n"
    "  -view           KSPView() at the end\n"
    "Exit status: 0 converged, 2 not converged.\n\n";

PetscErrorCode make_solver(const MultigridProblem& problem, KSP* ksp) {
  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetDM(*ksp, problem.grid));
  // The finest level's matrix is this one; coarser ones are for -pc_mg_galerkin.
#if PETSC_VERSION_GE(3, 25, 0)
  PetscCall(KSPSetDMActive(*ksp, KSP_DMACTIVE_ALL, PETSC_FALSE));
#else
  PetscCall(KSPSetDMActive(*ksp, PETSC_FALSE));
#endif
  PetscCall(KSPSetOperators(*ksp, problem.matrix, problem.matrix));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

PetscErrorCode set_up(KSP ksp, double* seconds) {
  PetscFunctionBegin;
  const double start = MPI_Wtime();
  PetscCall(KSPSetUp(ksp));
  *seconds = MPI_Wtime() - start;
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

PetscErrorCode solve_once(KSP ksp, Vec b, Vec x, double* seconds) {
  PetscFunctionBegin;
  PetscReal norm = 0;  // inside the timing because it waits for the device
  const double start = MPI_Wtime();
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(VecNorm(x, NORM_2, &norm));
  *seconds = MPI_Wtime() - start;
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

PetscErrorCode run(int* status) {
  PetscFunctionBegin;
  std::array<char, 64> name{"poisson"};
  PetscInt n = 17;
  PetscInt repeat = 1;
  PetscBool warm = PETSC_FALSE;
  PetscBool view = PETSC_FALSE;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-problem", name.data(), name.size(), nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-n", &n, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-repeat", &repeat, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-warm_up", &warm, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-view", &view, nullptr));
  PetscCheck(repeat > 0 && n > 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-repeat and -n are positive numbers");
  MultigridProblem problem;
  PetscCall(taskdag::benchmark::make_multigrid_problem(name.data(), n, &problem));

  // The right-hand side of a random solution, and its residual in the end.
  Vec x = nullptr;
  Vec b = nullptr;
  Vec r = nullptr;
  PetscRandom random = nullptr;
  PetscCall(MatCreateVecs(problem.matrix, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(PetscRandomSetInterval(random, -1.0, 1.0));
  PetscCall(PetscRandomSetFromOptions(random));
  PetscCall(VecSetRandom(x, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(MatMult(problem.matrix, x, b));

  KSP ksp = nullptr;
  double set_up_seconds = 0.0;
  std::vector<double> seconds(static_cast<std::size_t>(repeat));
  if (warm) {
    PetscCall(make_solver(problem, &ksp));
    PetscCall(set_up(ksp, &set_up_seconds));
    PetscCall(solve_once(ksp, b, x, seconds.data()));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(make_solver(problem, &ksp));
  PetscCall(set_up(ksp, &set_up_seconds));
  for (double& one : seconds) PetscCall(solve_once(ksp, b, x, &one));
  std::sort(seconds.begin(), seconds.end());

  PetscInt rows = 0;
  PetscInt iterations = 0;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscReal residual = 0;
  PetscReal scale = 0;
  PetscCall(MatGetSize(problem.matrix, &rows, nullptr));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(MatMult(problem.matrix, x, r));
  PetscCall(VecAYPX(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, &residual));
  PetscCall(VecNorm(b, NORM_2, &scale));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "problem: %s, %d nodes along each axis\n", name.data(), static_cast<int>(n)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "rows: %d\n", static_cast<int>(rows)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations: %d\n", static_cast<int>(iterations)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "reason: %s\n", KSPConvergedReasons[reason]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "residual: %.3e\n", static_cast<double>(residual / scale)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "set-up: %.6f s\n", set_up_seconds));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solve: %.6f s\n", seconds.front()));
  if (repeat > 1) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solve, median of %d: %.6f s\n", static_cast<int>(repeat),
                          seconds[seconds.size() / 2]));
  }
  if (view) PetscCall(KSPView(ksp, PETSC_VIEWER_STDOUT_WORLD));
  *status = reason > 0 ? 0 : 2;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&problem.matrix));
  PetscCall(DMDestroy(&problem.grid));
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

}  // namespace

int main(int argc, char** argv) {
  int status = 1;
  if (PetscInitialize(&argc, &argv, nullptr, kHelp)) return 1;
  if (run(&status)) return 1;
  if (PetscFinalize()) return 1;
  return status;
}
