#include "run.hpp"

#include <taskdagpetsc.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "backend.hpp"

namespace example {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

struct Options {
  PetscInt repeat = 1;
  PetscBool warm_up = PETSC_FALSE;
  std::string history_file;
};

Options read_options() {
  Options options;
  std::array<char, PETSC_MAX_PATH_LEN> file{};
  PetscCallAbort(PETSC_COMM_SELF, PetscOptionsGetInt(nullptr, nullptr, "-repeat", &options.repeat, nullptr));
  PetscCallAbort(PETSC_COMM_SELF,
                 PetscOptionsGetString(nullptr, nullptr, "-residual_history", file.data(), file.size(), nullptr));
  PetscCallAbort(PETSC_COMM_SELF, PetscOptionsGetBool(nullptr, nullptr, "-warm_up", &options.warm_up, nullptr));
  options.history_file = file.data();
  if (options.repeat < 1)
    throw InputError("-repeat " + std::to_string(options.repeat) + ": a positive number is needed");
  return options;
}

/// GMRES with the PC taskdag unless the options say otherwise.
KSP make_solver(MPI_Comm comm, Mat a) {
  KSP ksp = nullptr;
  PC pc = nullptr;
  PetscCallAbort(comm, KSPCreate(comm, &ksp));
  PetscCallAbort(comm, KSPSetOperators(ksp, a, a));
  PetscCallAbort(comm, KSPSetType(ksp, KSPGMRES));
  PetscCallAbort(comm, KSPGetPC(ksp, &pc));
  PetscCallAbort(comm, PCSetType(pc, PCTASKDAG));
  PetscCallAbort(comm, KSPSetFromOptions(ksp));
  return ksp;
}

/// Seconds that `work` takes on the slowest rank.
template <class Work>
double timed(MPI_Comm comm, const Work& work) {
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  work();
  double seconds = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return seconds;
}

double median(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const std::size_t half = seconds.size() / 2;
  return seconds.size() % 2 == 1 ? seconds[half] : (seconds[half - 1] + seconds[half]) / 2;
}

/// ||b - A x|| / ||b||; without the division where b = 0.
double true_residual(const Problem& problem, Vec x) {
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(x));
  Vec r = nullptr;
  PetscReal residual = 0, scale = 0;
  PetscCallAbort(comm, VecDuplicate(problem.b, &r));
  PetscCallAbort(comm, MatMult(problem.a, x, r));
  PetscCallAbort(comm, VecAYPX(r, -1.0, problem.b));
  PetscCallAbort(comm, VecNorm(r, NORM_2, &residual));
  PetscCallAbort(comm, VecNorm(problem.b, NORM_2, &scale));
  PetscCallAbort(comm, VecDestroy(&r));
  return scale > 0 ? residual / scale : residual;
}

void write_history(KSP ksp, const std::string& path) {
  int rank = 0;
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(ksp));
  MPI_Comm_rank(comm, &rank);
  const PetscReal* norms = nullptr;
  PetscInt count = 0;
  PetscCallAbort(comm, KSPGetResidualHistory(ksp, &norms, &count));
  int ok = 1;
  if (rank == 0) {
    std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "w"));
    ok = file != nullptr && std::fputs("iteration,residual_norm\n", file.get()) >= 0;
    for (PetscInt i = 0; ok != 0 && i < count; ++i) {
      ok = std::fprintf(file.get(), "%lld,%.17g\n", static_cast<long long>(i), static_cast<double>(norms[i])) > 0;
    }
    ok = ok != 0 && std::fflush(file.get()) == 0;
  }
  MPI_Bcast(&ok, 1, MPI_INT, 0, comm);
  if (ok == 0) throw InputError("cannot write " + path);
}

void print_problem(const Problem& problem) {
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(problem.a));
  PetscInt rows = 0;
  MatInfo info;
  MatType mat_type = nullptr;
  VecType vec_type = nullptr;
  PetscBool symmetric = PETSC_FALSE;
  PetscBool known = PETSC_FALSE;
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  PetscCallAbort(comm, MatGetSize(problem.a, &rows, nullptr));
  PetscCallAbort(comm, MatIsSymmetricKnown(problem.a, &known, &symmetric));
  if (!known) PetscCallAbort(comm, MatIsSymmetric(problem.a, 0.0, &symmetric));
  PetscCallAbort(comm, MatGetInfo(problem.a, MAT_GLOBAL_SUM, &info));
  PetscCallAbort(comm, MatGetType(problem.a, &mat_type));
  PetscCallAbort(comm, VecGetType(problem.b, &vec_type));
  PetscCallAbort(comm, PetscPrintf(comm, "problem: %s\n", problem.name.c_str()));
  PetscCallAbort(comm, PetscPrintf(comm, "rows: %lld\nentries: %.0f\n", static_cast<long long>(rows), info.nz_used));
  PetscCallAbort(comm, PetscPrintf(comm, "symmetric: %s\n", symmetric ? "yes" : "no"));
  PetscCallAbort(comm, PetscPrintf(comm, "ranks: %d, matrix %s, vectors %s\n", ranks, mat_type, vec_type));
}

void print_solver(KSP ksp) {
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(ksp));
  PC pc = nullptr;
  KSPType ksp_type = nullptr;
  PCType pc_type = nullptr;
  PetscCallAbort(comm, KSPGetPC(ksp, &pc));
  PetscCallAbort(comm, KSPGetType(ksp, &ksp_type));
  PetscCallAbort(comm, PCGetType(pc, &pc_type));
  PetscCallAbort(comm, PetscPrintf(comm, "solver: %s with %s\n", ksp_type, pc_type));
  PetscCallAbort(comm, PetscPrintf(comm, "backend: %s\n", backend_of(ksp).c_str()));
}

KSPConvergedReason print_outcome(KSP ksp) {
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(ksp));
  PetscInt iterations = 0;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscCallAbort(comm, KSPGetIterationNumber(ksp, &iterations));
  PetscCallAbort(comm, KSPGetConvergedReason(ksp, &reason));
  PetscCallAbort(comm, PetscPrintf(comm, "iterations: %lld\n", static_cast<long long>(iterations)));
  PetscCallAbort(comm, PetscPrintf(comm, "reason: %s\n", KSPConvergedReasons[reason]));
  return reason;
}

}  // namespace

namespace {

double set_up(MPI_Comm comm, KSP ksp) {
  return timed(comm, [&] {
    PetscCallAbort(comm, KSPSetUp(ksp));
    PetscCallAbort(comm, KSPSetUpOnBlocks(ksp));
  });
}

/// A solver of the same kind, set up, used once and forgotten: a process loads kernels and takes memory only once.
/// Returns the seconds of its set-up.
double warm_up(const Problem& problem) {
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(problem.a));
  KSP ksp = make_solver(comm, problem.a);
  Vec x = nullptr;
  const double seconds = set_up(comm, ksp);
  PetscCallAbort(comm, VecDuplicate(problem.b, &x));
  PetscCallAbort(comm, KSPSolve(ksp, problem.b, x));
  PetscCallAbort(comm, VecDestroy(&x));
  PetscCallAbort(comm, KSPDestroy(&ksp));
  return seconds;
}

}  // namespace

bool solve(const Problem& problem) {
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(problem.a));
  const Options options = read_options();
  print_problem(problem);
  const double cold_seconds = options.warm_up ? warm_up(problem) : 0.0;
  KSP ksp = make_solver(comm, problem.a);
  PetscInt max_iterations = 0;
  PetscCallAbort(comm, KSPGetTolerances(ksp, nullptr, nullptr, nullptr, &max_iterations));
  PetscCallAbort(comm, KSPSetResidualHistory(ksp, nullptr, max_iterations + 1, PETSC_TRUE));

  const double set_up_seconds = set_up(comm, ksp);
  Vec x = nullptr;
  PetscCallAbort(comm, VecDuplicate(problem.b, &x));
  std::vector<double> seconds;
  for (PetscInt i = 0; i < options.repeat; ++i) {
    PetscReal norm = 0;  // asked for inside the timing because it waits for the device
    seconds.push_back(timed(comm, [&] {
      PetscCallAbort(comm, KSPSolve(ksp, problem.b, x));
      PetscCallAbort(comm, VecNorm(x, NORM_2, &norm));
    }));
  }

  print_solver(ksp);
  const KSPConvergedReason reason = print_outcome(ksp);
  const double residual = true_residual(problem, x);
  PetscCallAbort(comm, PetscPrintf(comm, "residual: %.3e%s\n", residual,
                                   std::isfinite(residual) ? "" : " (there is no solution: it is not finite)"));
  PetscCallAbort(comm, PetscPrintf(comm, "set-up: %.6f s\n", set_up_seconds));
  if (options.warm_up) {
    PetscCallAbort(comm, PetscPrintf(comm, "set-up, first of the process: %.6f s\n", cold_seconds));
  }
  PetscCallAbort(comm, PetscPrintf(comm, "first solve: %.6f s\n", seconds.front()));
  PetscCallAbort(comm, PetscPrintf(comm, "solve: %.6f s\n", *std::min_element(seconds.begin(), seconds.end())));
  if (options.repeat > 1) {
    PetscCallAbort(comm, PetscPrintf(comm, "solve, median of %lld: %.6f s\n", static_cast<long long>(options.repeat),
                                     median(seconds)));
  }
  if (!options.history_file.empty()) write_history(ksp, options.history_file);
  PetscCallAbort(comm, VecDestroy(&x));
  PetscCallAbort(comm, KSPDestroy(&ksp));
  return reason > 0 && std::isfinite(residual);
}

}  // namespace example
