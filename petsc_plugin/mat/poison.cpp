#include "mat/poison.hpp"

namespace taskdag::petsc {

PetscErrorCode poison(Mat x, PCFailedReason reason) {
  PetscFunctionBegin;
  PetscInt columns = 0;
  PetscCall(MatGetSize(x, nullptr, &columns));
  for (PetscInt k = 0; k < columns; ++k) {
    Vec column = nullptr;
    PetscCall(MatDenseGetColumnVecWrite(x, k, &column));
    PetscCall(poison(column, reason));
    PetscCall(MatDenseRestoreColumnVecWrite(x, k, &column));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
