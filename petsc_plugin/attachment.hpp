/// \file
/// What is ours and travels with an object of PETSc until that gets another type or goes.
#pragma once

#include <utility>

#include "boundary.hpp"
#include "compat.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {

/// T has PetscErrorCode reset(), which is called before its destructor.
template <class T>
PetscErrorCode destroy_attached(void* pointer) {
  PetscFunctionBegin;
  auto* const attached = static_cast<T*>(pointer);
  const PetscErrorCode ended = attached->reset();
  PetscCall(guarded([&] { delete attached; }));
  PetscCall(ended);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Null where nothing is attached under that name.
template <class T>
PetscErrorCode find_attached(PetscObject object, const char* name, T** attached) {
  PetscFunctionBegin;
  PetscObject container = nullptr;
  void* pointer = nullptr;
  PetscCall(PetscObjectQuery(object, name, &container));
  if (container) PetscCall(PetscContainerGetPointer(reinterpret_cast<PetscContainer>(container), &pointer));
  *attached = static_cast<T*>(pointer);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Null on all ranks of the object where one has no memory for it and others may wait: an object gets its type also
/// inside a solve on several ranks, where an error of one would let them. consequence: for the warning then.
/// Collective.
template <class T>
PetscErrorCode attach_to(PetscObject object, const char* name, const char* consequence, T** attached) {
  PetscFunctionBegin;
  PetscContainer container = nullptr;
  *attached = nullptr;
  const PetscErrorCode made = guarded([&] { *attached = new T; });
  if (static_cast<int>(made) != 0 && !others_may_wait()) PetscCall(made);
  if (!*attached) PetscCall(warn_of_error(consequence));
  int all = *attached ? 1 : 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm(object)));
  if (all == 0) {
    delete std::exchange(*attached, nullptr);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(set_container<destroy_attached<T>>(container, *attached));
  PetscCall(PetscObjectCompose(object, name, reinterpret_cast<PetscObject>(container)));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
