#include "mat/off_diagonal.hpp"

namespace taskdag::petsc {

PetscErrorCode outside_part(Mat matrix, Mat* part, const PetscInt** columns) {
  PetscFunctionBegin;
  PetscBool rows = PETSC_FALSE;
  PetscBool blocks = PETSC_FALSE;
  *part = nullptr;
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(matrix), MATMPIAIJ, &rows));
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(matrix), MATMPIBAIJ, &blocks));
  if (rows) PetscCall(MatMPIAIJGetSeqAIJ(matrix, nullptr, part, columns));
  if (blocks) PetscCall(MatMPIBAIJGetSeqBAIJ(matrix, nullptr, part, columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OffDiagonal::attach(Mat matrix) {
  PetscFunctionBegin;
  if (matrix == matrix_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(forget());
  PetscMPIInt ranks = 1;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(matrix)), &ranks));
  ranks_ = ranks;
  PetscCall(matrix_.share(matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OffDiagonal::make(Vec b, Vec x) {
  PetscFunctionBegin;
  Mat part = nullptr;
  const PetscInt* columns = nullptr;
  PetscInt count = 0;
  PetscInt block = 1;
  PetscBool blocks = PETSC_FALSE;
  PetscCall(outside_part(matrix_, &part, &columns));
  PetscCheck(part, matrix_.comm(), PETSC_ERR_SUP,
             "On several ranks, SOR goes on from a vector with matrices of the types %s and %s alone, not with %s",
             MATMPIAIJ, MATMPIBAIJ, reinterpret_cast<PetscObject>(matrix_.get())->type_name);
  PetscCall(part_.share(part));
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(matrix_.get()), MATMPIBAIJ, &blocks));
  if (blocks) PetscCall(MatGetBlockSize(matrix_, &block));
  PetscCall(MatCreateVecs(part_, columns_.out(), local_b_.out()));
  PetscCall(VecDuplicate(local_b_, local_rest_.out()));
  PetscCall(VecDuplicate(b, rest_.out()));
  PetscCall(VecGetSize(columns_, &count));
  IS from = nullptr;
  PetscCall(ISCreateBlock(PETSC_COMM_SELF, block, count / block, columns, PETSC_COPY_VALUES, &from));
  PetscCall(VecScatterCreate(x, from, columns_, nullptr, scatter_.out()));
  PetscCall(ISDestroy(&from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OffDiagonal::residual(Vec b, Vec x, Vec* rest) {
  PetscFunctionBegin;
  if (!rest_) PetscCall(make(b, x));
  PetscCall(VecScatterBegin(scatter_, x, columns_, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter_, x, columns_, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScale(columns_, -1.0));
  PetscCall(subtract(b));
  *rest = rest_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OffDiagonal::subtract(Vec b) {
  PetscFunctionBegin;
  PetscCall(VecGetLocalVectorRead(b, local_b_));
  PetscCall(VecGetLocalVector(rest_, local_rest_));
  PetscCall(MatMultAdd(part_, columns_, local_b_, local_rest_));
  PetscCall(VecRestoreLocalVector(rest_, local_rest_));
  PetscCall(VecRestoreLocalVectorRead(b, local_b_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OffDiagonal::reset() {
  PetscFunctionBegin;
  PetscCall(forget());
  PetscCall(matrix_.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OffDiagonal::forget() {
  PetscFunctionBegin;
  PetscCall(part_.reset());
  PetscCall(scatter_.reset());
  PetscCall(columns_.reset());
  PetscCall(local_b_.reset());
  PetscCall(local_rest_.reset());
  PetscCall(rest_.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
