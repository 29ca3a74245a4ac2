#include "mat/pattern.hpp"

namespace taskdag::petsc {

PetscErrorCode open_pattern(Mat matrix, PetscBool nodes, CsrPattern* pattern) {
  PetscFunctionBegin;
  PetscInt rows = 0;
  PetscBool done = PETSC_FALSE;
  const PetscInt* offsets = nullptr;
  const PetscInt* columns = nullptr;
  PetscCall(MatGetRowIJ(matrix, 0, PETSC_FALSE, nodes, &rows, &offsets, &columns, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "TaskDAG cannot read the pattern of a matrix of type %s",
             reinterpret_cast<PetscObject>(matrix)->type_name);
  *pattern = {rows, rows, offsets, columns};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode close_pattern(Mat matrix, PetscBool nodes, CsrPattern* pattern) {
  PetscFunctionBegin;
  PetscInt rows = pattern->rows;
  PetscBool done = PETSC_FALSE;
  PetscCall(MatRestoreRowIJ(matrix, 0, PETSC_FALSE, nodes, &rows, &pattern->row_offsets, &pattern->col_indices, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
