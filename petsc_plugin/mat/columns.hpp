/// \file
/// Dense matrices, a column at a time.
#pragma once

#include "compat.hpp"

namespace taskdag::petsc {

/// Calls work(b', x') for each column of b and x, which it writes. Collective as `work` is.
template <class Work>
PetscErrorCode by_columns(Mat b, Mat x, const Work& work) {
  PetscFunctionBegin;
  PetscInt columns = 0;
  PetscCall(MatGetSize(b, nullptr, &columns));
  for (PetscInt k = 0; k < columns; ++k) {
    Vec from = nullptr;
    Vec to = nullptr;
    PetscCall(MatDenseGetColumnVecRead(b, k, &from));
    PetscCall(MatDenseGetColumnVecWrite(x, k, &to));
    const PetscErrorCode worked = work(from, to);
    PetscCall(MatDenseRestoreColumnVecWrite(x, k, &to));
    PetscCall(MatDenseRestoreColumnVecRead(b, k, &from));
    PetscCall(worked);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
