#include "mat/local_block.hpp"

namespace taskdag::petsc {
namespace {

PetscErrorCode refuse(Mat whole) {
  PetscFunctionBegin;
  MatType type = nullptr;
  PetscCall(MatGetType(whole, &type));
  // PCGetOperators() makes such a matrix where there is none, after PCReset() for example.
  PetscCheck(type, PetscObjectComm(reinterpret_cast<PetscObject>(whole)), PETSC_ERR_ORDER,
             "Matrix must be set first: KSPSetOperators()");
  SETERRQ(
      PetscObjectComm(reinterpret_cast<PetscObject>(whole)), PETSC_ERR_SUP,
      "TaskDAG needs the entries of the matrix, and one of type %s gives none. Give KSPSetOperators() a matrix with "
      "entries as the second one; MatConvert() to MATAIJ makes one of a nest and the like, -pc_type fieldsplit works "
      "on its blocks",
      type);
}

}  // namespace

PetscErrorCode local_block(Mat whole, Mat* block) {
  PetscFunctionBegin;
  PetscMPIInt ranks = 1;
  PetscBool has = PETSC_TRUE;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(whole)), &ranks));
  if (ranks > 1) PetscCall(MatHasOperation(whole, MATOP_GET_DIAGONAL_BLOCK, &has));
  if (!has) PetscCall(refuse(whole));
  PetscCall(MatGetDiagonalBlock(whole, block));
  // Without its rows PETSc would make a copy of a matrix by products, a row each. MATIS has none, and is converted
  // well.
  PetscBool assembled = PETSC_FALSE;
  PetscCall(MatHasOperation(*block, MATOP_GET_ROW, &has));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(*block), MATIS, &assembled));
  if (!has && !assembled) PetscCall(refuse(whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
