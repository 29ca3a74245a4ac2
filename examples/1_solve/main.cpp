// Solves A x = b with any of PETSc's Krylov methods and preconditioners; -help lists the options of this program first.
#include <petscksp.h>
#include <taskdagpetsc.h>

#include <cstdio>
#include <cstring>

#include "problem.hpp"
#include "run.hpp"

namespace {

constexpr const char* kHelp =
    "Solves A x = b and says how it went.\n"
    "  -f FILE                  matrix: Matrix Market (.mtx, also .gz .xz .bz2 .zst) or PETSc binary\n"
    "  -stencil 5|7|27          without -f: a convection-diffusion stencil on a grid [7]\n"
    "  -nx N -ny N -nz N        its grid points per direction [50; ny and nz as nx]\n"
    "  -dof N                   its unknowns per grid point [1]\n"
    "  -wind W                  its convection relative to diffusion, 0: symmetric [0]\n"
    "  -rhs FILE                right-hand side: Matrix Market or PETSc binary vector [A times a random vector]\n"
    "  -seed N                  of that random vector [1]\n"
    "  -mean M                  of its entries, which lie in [M - 1, M + 1) [0]\n"
    "  -repeat N                solve N times, for timing [1]\n"
    "  -warm_up                 set up and solve once beforehand, so that the first use of the device is not timed\n"
    "  -residual_history FILE   write the residual norm of each iteration as CSV\n"
    "  -mat_type, -vec_type, -ksp_*, -pc_*   as in every PETSc program; the default is GMRES with the PC taskdag\n"
    "Exit status: 0 converged, 1 wrong input, 2 not converged.\n\n";

/// An option that nothing has asked for by now is misspelt or of no use here.
void warn_of_unused_options(MPI_Comm comm) {
  PetscInt count = 0;
  char** names = nullptr;
  char** values = nullptr;
  PetscCallAbort(comm, PetscOptionsLeftGet(nullptr, &count, &names, &values));
  for (PetscInt i = 0; i < count; ++i) {
    if (std::strcmp(names[i], "options_left") == 0) continue;  // PETSc asks for it at the very end
    const char* value = values[i] != nullptr ? values[i] : "";
    PetscCallAbort(comm,
                   PetscFPrintf(comm, stderr, "solve: warning: the option -%s %s was not used\n", names[i], value));
  }
  PetscCallAbort(comm, PetscOptionsLeftRestore(nullptr, &count, &names, &values));
}

/// The program between PetscInitialize and PetscFinalize. @returns the exit status
int run() {
  MPI_Comm comm = PETSC_COMM_WORLD;
  example::Problem problem = example::make_problem(comm);
  const bool converged = example::solve(problem);
  warn_of_unused_options(comm);
  PetscCallAbort(comm, VecDestroy(&problem.b));
  PetscCallAbort(comm, MatDestroy(&problem.a));
  return converged ? 0 : 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (PetscInitialize(&argc, &argv, nullptr, kHelp) != 0) return 1;
  PetscCallAbort(PETSC_COMM_WORLD, TaskDAGInitializePackage());
  int status = 1;
  try {
    status = run();
  } catch (const example::InputError& e) {
    // Every rank is here: what make_problem throws, it throws everywhere.
    PetscCallAbort(PETSC_COMM_WORLD, PetscFPrintf(PETSC_COMM_WORLD, stderr, "solve: %s\n", e.what()));
  }
  return PetscFinalize() == 0 ? status : 1;
}
