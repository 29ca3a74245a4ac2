#include "shared_error.hpp"

#include <array>

namespace taskdag::petsc {

PetscErrorCode share_error(MPI_Comm comm, PetscErrorCode mine) {
  PetscFunctionBegin;
  PetscMPIInt rank = 0;
  PetscMPIInt ranks = 1;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  if (ranks == 1) PetscFunctionReturn(mine);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  struct {
    int code;
    int rank;
  } first = {static_cast<int>(mine), rank};  // MPI_2INT
  std::array<char, 1024> text{};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_2INT, MPI_MAXLOC, comm));
  if (first.code == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (first.rank == rank) PetscCall(PetscStrncpy(text.data(), last_error(PetscErrorMessage), text.size()));
  PetscCallMPI(MPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, first.rank, comm));
  PetscCall(mine);
  SETERRQ(PETSC_COMM_SELF, static_cast<PetscErrorCode>(first.code), "%s", text.data());
}

bool others_may_wait() {
  PetscMPIInt ranks = 1;
  return MPI_Comm_size(PETSC_COMM_WORLD, &ranks) == MPI_SUCCESS && ranks > 1;
}

bool is_alone(MPI_Comm comm) {
  PetscMPIInt ranks = 1;
  return MPI_Comm_size(comm, &ranks) == MPI_SUCCESS && ranks == 1 && others_may_wait();
}

PetscErrorCode end_view(MPI_Comm comm, PetscErrorCode viewed) {
  PetscFunctionBegin;
  if (static_cast<int>(viewed) != 0 && is_alone(comm))
    PetscCall(warn_of_error("a view ends early"));
  else
    PetscCall(viewed);
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode report(const char* what, const char* outcome) {
  PetscFunctionBegin;
  PetscMPIInt rank = 0;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR,
                         "TaskDAG: warning: %s on rank %d%s, since other ranks may "
                         "wait: %s\n",
                         what, static_cast<int>(rank), outcome, last_error(PetscErrorMessage)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode report_swallowed_error(const char* what) { return report(what, ", and the solve fails"); }

PetscErrorCode warn_of_error(const char* what) { return report(what, ""); }

}  // namespace taskdag::petsc
