/// \file
/// Whether a matrix is still the one that was looked at, with the values that it had.
#pragma once

#include "compat.hpp"

namespace taskdag::petsc {

/// Of a matrix, or of none. PETSc counts an object's changes, and gives no number to two objects of a process. Changes
/// of a matrix are collective, so all ranks find the same, as PCSetUp() relies on, too.
struct MatState {
  PetscObjectId id = 0;
  PetscObjectState values = -1;
  PetscObjectState pattern = -1;
  bool operator==(const MatState&) const = default;
  [[nodiscard]] bool has_pattern_of(const MatState& other) const { return id == other.id && pattern == other.pattern; }
};

inline PetscErrorCode read_state(Mat matrix, MatState* state) {
  PetscFunctionBegin;
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(matrix), &state->id));
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(matrix), &state->values));
  PetscCall(MatGetNonzeroState(matrix, &state->pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
