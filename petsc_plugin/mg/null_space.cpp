#include "mg/null_space.hpp"

#include "boundary.hpp"
#include "events.hpp"
#include "mat/arrays.hpp"
#include "mg/gather.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {

PetscErrorCode look_at_null_space(MatNullSpace space, NullSpaceSeen* seen, const Refusal& refuse) {
  PetscFunctionBegin;
  PetscBool constant = PETSC_FALSE;
  PetscInt count = 0;
  const Vec* vectors = nullptr;
  PetscObjectId id = 0;
  if (!space) PetscFunctionReturn(PETSC_SUCCESS);
  if (space->remove) refuse("has a null space that a function of the application removes");
  PetscCall(MatNullSpaceGetVecs(space, &constant, &count, &vectors));
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(space), &id));
  PetscCall(guarded([&] {
    seen->reserve(1 + 2 * static_cast<std::size_t>(count));
    seen->push_back(id);
  }));
  for (PetscInt k = 0; k < count; ++k) {
    PetscObjectState state = 0;
    PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(vectors[k]), &id));
    PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(vectors[k]), &state));
    seen->push_back(id);
    seen->push_back(state);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// Whether a vector has the rows of the level, on all ranks.
PetscErrorCode has_rows(Vec v, PetscInt rows, bool whole, bool* fits) {
  PetscFunctionBegin;
  PetscInt size = 0;
  if (whole)
    PetscCall(VecGetSize(v, &size));
  else
    PetscCall(VecGetLocalSize(v, &size));
  int all = size == rows ? 1 : 0;
  PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm(reinterpret_cast<PetscObject>(v))));
  *fits = all != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode bring_null_space(MatNullSpace space, const Context& context, PetscInt rows, bool whole,
                                std::vector<NullSpaceElements>* elements_of, CycleNullSpace* brought,
                                const Refusal& refuse) {
  PetscFunctionBegin;
  PetscBool constant = PETSC_FALSE;
  PetscInt count = 0;
  const Vec* vectors = nullptr;
  if (!space) PetscFunctionReturn(PETSC_SUCCESS);
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(space));
  PetscCall(MatNullSpaceGetVecs(space, &constant, &count, &vectors));
  brought->constant = constant == PETSC_TRUE;
  PetscCall(guarded(comm, [&] {
    brought->vectors.resize(static_cast<std::size_t>(count));
    elements_of->resize(static_cast<std::size_t>(count));
  }));
  for (PetscInt k = 0; k < count; ++k) {
    NullSpaceElements& elements = (*elements_of)[static_cast<std::size_t>(k)];
    const double*& array = brought->vectors[static_cast<std::size_t>(k)];
    bool fits = false;
    PetscCall(has_rows(vectors[k], rows, whole, &fits));
    if (!fits)
      refuse("has a null space with a vector of another size than the cycle");
    else if (whole)
      PetscCall(elements.all.find(vectors[k], context, &array));
    else
      PetscCall(share_error(comm, elements.own.find(vectors[k], context, &array)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
