#include "mg/null_space.hpp"

#include "boundary.hpp"
#include "mat/arrays.hpp"

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

PetscErrorCode bring_null_space(MatNullSpace space, const Context& context, PetscInt rows,
                                NullSpaceElements* elements_of, CycleNullSpace* brought, const Refusal& refuse) {
  PetscFunctionBegin;
  PetscBool constant = PETSC_FALSE;
  PetscInt count = 0;
  const Vec* vectors = nullptr;
  if (!space) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatNullSpaceGetVecs(space, &constant, &count, &vectors));
  brought->constant = constant == PETSC_TRUE;
  PetscCall(guarded([&] {
    brought->vectors.resize(static_cast<std::size_t>(count));
    elements_of->resize(static_cast<std::size_t>(count));
  }));
  for (PetscInt k = 0; k < count; ++k) {
    const double*& elements = brought->vectors[static_cast<std::size_t>(k)];
    PetscInt size = 0;
    PetscCall(VecGetLocalSize(vectors[k], &size));
    if (size == rows) PetscCall((*elements_of)[static_cast<std::size_t>(k)].find(vectors[k], context, &elements));
    if (!elements) refuse("has a null space with a vector of another size than the cycle");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
