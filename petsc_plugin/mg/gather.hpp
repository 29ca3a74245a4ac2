/// \file
/// What ranks have of a coarse level, put together on each of them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "boundary.hpp"
#include "compat.hpp"
#include "events.hpp"
#include "mat/arrays.hpp"
#include "shared_error.hpp"
#include "taskdag/context.hpp"
#include "taskdag/engine/memory.hpp"

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

/// The elements of all ranks of a vector, on each rank where a context works.
class WholeElements {
 public:
  /// Valid until the next call; they lie where they did, if they are as many. Null for none. Collective.
  PetscErrorCode find(Vec v, const Context& context, const double** array) {
    PetscFunctionBegin;
    const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(v));
    PetscInt size = 0;
    const PetscScalar* own = nullptr;
    std::vector<double> mine;
    std::vector<double> all;
    PetscCall(VecGetLocalSize(v, &size));
    PetscCall(VecGetArrayRead(v, &own));
    PetscCall(guarded(comm, [&] {
      const Reals reals(std::span<const PetscScalar>(own, static_cast<std::size_t>(size)));
      mine.assign(reals.get().begin(), reals.get().end());
    }));
    PetscCall(VecRestoreArrayRead(v, &own));
    PetscCall(gather_all<double>(comm, MPI_DOUBLE, mine, &all));
    PetscCall(guarded(comm, [&] { bring(all, context, &copy_); }));
    if (context.backend() == Backend::cuda)
      PetscCall(log_staging(sizeof(double) * static_cast<double>(all.size()), 0.0));
    *array = copy_.data();
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  engine::Array<double> copy_;
};

}  // namespace taskdag::petsc
