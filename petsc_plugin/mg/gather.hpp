/// \file
/// What ranks have of a coarse level, put together on each of them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "boundary.hpp"
#include "compat.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {

/// The elements of all ranks, in the ranks' order. type: MPI's of T. Collective.
template <class T>
PetscErrorCode gather_all(MPI_Comm comm, MPI_Datatype type, std::span<const T> mine, std::vector<T>* all) {
  PetscFunctionBegin;
  PetscMPIInt ranks = 1;
  const auto count = static_cast<int>(mine.size());
  std::vector<int> counts;
  std::vector<int> begins;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCall(guarded(comm, [&] {
    counts.resize(static_cast<std::size_t>(ranks));
    begins.resize(counts.size() + 1, 0);
  }));
  PetscCallMPI(MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm));
  for (std::size_t rank = 0; rank < counts.size(); ++rank) begins[rank + 1] = begins[rank] + counts[rank];
  PetscCall(guarded(comm, [&] { all->resize(static_cast<std::size_t>(begins.back())); }));
  PetscCallMPI(MPI_Allgatherv(mine.data(), count, type, all->data(), counts.data(), begins.data(), type, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Those of a vector, as the library's numbers. Collective.
inline PetscErrorCode gather_elements(Vec v, std::vector<double>* all) {
  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(v));
  PetscInt size = 0;
  const PetscScalar* own = nullptr;
  std::vector<double> mine;
  PetscCall(VecGetLocalSize(v, &size));
  PetscCall(VecGetArrayRead(v, &own));
  PetscCall(guarded(comm, [&] {
    const Reals reals(std::span<const PetscScalar>(own, static_cast<std::size_t>(size)));
    mine.assign(reals.get().begin(), reals.get().end());
  }));
  PetscCall(VecRestoreArrayRead(v, &own));
  PetscCall(gather_all<double>(comm, MPI_DOUBLE, mine, all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
