#include "mat/poison.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace taskdag::petsc {

PetscErrorCode poison(Mat x, PCFailedReason /*reason*/) {
  PetscFunctionBegin;
  PetscInt rows = 0;
  PetscInt columns = 0;
  PetscInt stride = 0;
  PetscScalar* array = nullptr;
  PetscCall(MatGetLocalSize(x, &rows, nullptr));
  PetscCall(MatGetSize(x, nullptr, &columns));
  PetscCall(MatDenseGetLDA(x, &stride));
  // Not a column at a time as a vector, which all ranks would have to make.
  PetscCall(MatDenseGetArrayWrite(x, &array));
  for (PetscInt k = 0; k < columns; ++k)
    std::fill_n(array + static_cast<std::ptrdiff_t>(k) * stride, rows,
                PetscScalar(std::numeric_limits<double>::infinity()));
  PetscCall(MatDenseRestoreArrayWrite(x, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
