#include "across/ranks.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <thread>

#include "shared_error.hpp"
#include "taskdag/error.hpp"

namespace taskdag::petsc {
namespace {

/// More than agree() sends.
constexpr std::size_t room = 8;

PetscErrorCode share_reason(MPI_Comm comm, int root, Reason* why_not) {
  PetscFunctionBegin;
  Reason first = *why_not;
  PetscCallMPI(MPI_Bcast(&first, sizeof first, MPI_BYTE, root, comm));
  *why_not = first;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode CommRanks::take(MPI_Comm comm) {
  PetscFunctionBegin;
  if (comm_ != MPI_COMM_NULL) PetscFunctionReturn(PETSC_SUCCESS);
  MPI_Comm node = MPI_COMM_NULL;
  PetscMPIInt of_node = 1;
  PetscCallMPI(MPI_Comm_rank(comm, &rank_));
  PetscCallMPI(MPI_Comm_size(comm, &count_));
  if (count_ > 1) {
    PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    PetscCallMPI(MPI_Comm_size(node, &of_node));
    PetscCallMPI(MPI_Comm_free(&node));
  }
  on_one_node_ = of_node == count_;
  comm_ = comm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void CommRanks::gather(const void* mine, std::size_t bytes, void* all) const {
  if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw Unsupported("ranks have more to tell each other than MPI counts bytes");
  Steps steps{.gathers = 1, .has_left = 0};
  if (meet(&steps) != MPI_SUCCESS) throw Error("MPI_Allreduce() has failed");
  if (steps.has_left != 0) throw Error("another rank has met an error");
  const auto count = static_cast<int>(bytes);
  if (MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, comm_) != MPI_SUCCESS)
    throw Error("MPI_Allgather() has failed");
}

int CommRanks::meet(Steps* steps) const { return MPI_Allreduce(MPI_IN_PLACE, steps, 2, MPI_INT, MPI_MAX, comm_); }

PetscErrorCode CommRanks::leave() const {
  PetscFunctionBegin;
  Steps steps{.gathers = count_ > 1 ? 1 : 0, .has_left = 1};
  while (steps.gathers != 0) {
    steps = {.gathers = 0, .has_left = 1};
    PetscCallMPI(meet(&steps));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CommRanks::share_with_those_left(PetscErrorCode mine, double limit_s) const {
  PetscFunctionBegin;
  if (count_ == 1) PetscFunctionReturn(mine);
  int* failed = nullptr;  // MPI's until all have come: where they do not, it stays so
  int come = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  PetscCall(PetscMalloc1(1, &failed));
  *failed = static_cast<int>(mine) != 0 ? 1 : 0;
  // NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): who has ended is not waited for.
  PetscCallMPI(MPI_Iallreduce(MPI_IN_PLACE, failed, 1, MPI_INT, MPI_MAX, comm_, &request));
  for (const double start = MPI_Wtime(); come == 0 && MPI_Wtime() - start < limit_s; std::this_thread::yield())
    PetscCallMPI(MPI_Test(&request, &come, MPI_STATUS_IGNORE));
  if (come == 0) PetscCall(mine);
  PetscCheck(come != 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "TaskDAG: another rank has ended or does not answer");
  // NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)
  const bool any = *failed != 0;
  PetscCall(PetscFree(failed));
  if (any) PetscCall(share_error(comm_, mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode agree(MPI_Comm comm, PetscErrorCode mine, Reason* why_not, std::span<int> largest) {
  PetscFunctionBegin;
  PetscMPIInt rank = 0;
  PetscMPIInt ranks = 1;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  if (ranks == 1) PetscFunctionReturn(mine);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  std::array<int, room> numbers{static_cast<int>(mine) != 0 ? 1 : 0, why_not->given() ? ranks - rank : 0};
  std::ranges::copy(largest, numbers.begin() + 2);
  const auto count = static_cast<int>(largest.size() + 2);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, numbers.data(), count, MPI_INT, MPI_MAX, comm));
  if (numbers[0] != 0) PetscCall(share_error(comm, mine));
  if (numbers[1] != 0) PetscCall(share_reason(comm, ranks - numbers[1], why_not));
  std::copy_n(numbers.begin() + 2, largest.size(), largest.begin());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
