#include "mat/outside_rows.hpp"

#include <cmath>

#include "boundary.hpp"

namespace taskdag::petsc {
namespace {

void add(RowMeasure measure, PetscScalar value, double* number) {
  switch (measure) {
    case RowMeasure::largest:
      *number = std::fmax(*number, std::abs(value));
      return;
    case RowMeasure::sum:
      *number += PetscRealPart(value);
      return;
    case RowMeasure::absolute_sum:
      *number += std::abs(value);
      return;
  }
}

/// Of a matrix whose outside PETSc lends.
PetscErrorCode measure_part(Mat whole, RowMeasure measure, std::vector<double>& values) {
  PetscFunctionBegin;
  Mat part = nullptr;
  const PetscInt* columns = nullptr;
  PetscInt rows = 0;
  const PetscInt* offsets = nullptr;
  const PetscInt* indices = nullptr;
  PetscBool done = PETSC_FALSE;
  const PetscScalar* entries = nullptr;
  PetscCall(MatMPIAIJGetSeqAIJ(whole, nullptr, &part, &columns));
  PetscCall(MatGetRowIJ(part, 0, PETSC_FALSE, PETSC_FALSE, &rows, &offsets, &indices, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "PETSc does not show the rows of a sequential AIJ matrix");
  PetscCall(MatSeqAIJGetArrayRead(part, &entries));
  for (PetscInt i = 0; i < rows; ++i) {
    for (PetscInt e = offsets[i]; e < offsets[i + 1]; ++e)
      add(measure, entries[e], &values[static_cast<std::size_t>(i)]);
  }
  PetscCall(MatSeqAIJRestoreArrayRead(part, &entries));
  PetscCall(MatRestoreRowIJ(part, 0, PETSC_FALSE, PETSC_FALSE, &rows, &offsets, &indices, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode measure_rows(Mat whole, RowMeasure measure, std::vector<double>& values) {
  PetscFunctionBegin;
  PetscBool shown = PETSC_FALSE;
  PetscBool upper_only = PETSC_FALSE;
  PetscInt first = 0;
  PetscInt last = 0;
  PetscInt first_column = 0;
  PetscInt last_column = 0;
  PetscCall(MatHasOperation(whole, MATOP_GET_ROW, &shown));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(whole), MATMPISBAIJ, &upper_only));
  PetscCheck(shown && !upper_only, PetscObjectComm(reinterpret_cast<PetscObject>(whole)), PETSC_ERR_SUP,
             "On several ranks Jacobi divides by what belongs to whole rows (-pc_taskdag_jacobi_type) with matrices of "
             "type %s and the like, not with %s",
             MATMPIAIJ, reinterpret_cast<PetscObject>(whole)->type_name);
  PetscCall(MatGetOwnershipRange(whole, &first, &last));
  PetscCall(MatGetOwnershipRangeColumn(whole, &first_column, &last_column));
  for (PetscInt i = first; i < last; ++i) {
    PetscInt count = 0;
    const PetscInt* columns = nullptr;
    const PetscScalar* entries = nullptr;
    PetscCall(MatGetRow(whole, i, &count, &columns, &entries));
    for (PetscInt e = 0; e < count; ++e) {
      const bool own = columns[e] >= first_column && columns[e] < last_column;
      if (!own) add(measure, entries[e], &values[static_cast<std::size_t>(i - first)]);
    }
    PetscCall(MatRestoreRow(whole, i, &count, &columns, &entries));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode measure_outside(Mat whole, RowMeasure measure, std::vector<double>* values) {
  PetscFunctionBegin;
  PetscMPIInt ranks = 1;
  PetscInt rows = 0;
  PetscBool lends = PETSC_FALSE;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(whole)), &ranks));
  values->clear();
  if (ranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLocalSize(whole, &rows, nullptr));
  PetscCall(guarded([&] { values->resize(static_cast<std::size_t>(rows)); }));
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(whole), MATMPIAIJ, &lends));
  if (lends)
    PetscCall(measure_part(whole, measure, *values));
  else
    PetscCall(measure_rows(whole, measure, *values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
