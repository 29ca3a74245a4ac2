#include "mg/transfer.hpp"

namespace taskdag::petsc {
namespace {

PetscErrorCode has_entries(Mat given, bool* entries, bool* repeated) {
  PetscFunctionBegin;
  PetscBool aij = PETSC_FALSE;
  PetscBool maij = PETSC_FALSE;
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(given), MATSEQAIJ, &aij));
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(given), &maij, MATMAIJ, MATSEQMAIJ, ""));
  *entries = aij == PETSC_TRUE;
  *repeated = maij == PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode Transfer::check(Mat given, const Refusal& refuse) {
  PetscFunctionBegin;
  bool entries = false;
  bool repeated = false;
  PetscCall(has_entries(given, &entries, &repeated));
  if (!entries && !repeated) refuse("is of type ", reinterpret_cast<PetscObject>(given)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Transfer::take(Mat given, PetscInt rows) {
  PetscFunctionBegin;
  MatState now;
  PetscInt own_rows = 0;
  PetscCall(read_state(given, &now));
  if (now != of_) PetscCall(write_out(given, now));
  PetscCall(MatGetSize(given, &own_rows, nullptr));
  if (own_rows != rows && now != of_) PetscCall(transpose(now));
  PetscCall(matrix_.share(own_rows == rows ? written_ : transpose_));
  of_ = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Transfer::write_out(Mat given, const MatState& now) {
  PetscFunctionBegin;
  bool entries = false;
  bool repeated = false;
  PetscCall(has_entries(given, &entries, &repeated));
  if (repeated) {
    PetscCall(transpose_.reset());
    PetscCall(written_.reset());
    PetscCall(MatConvert(given, MATSEQAIJ, MAT_INITIAL_MATRIX, written_.out()));
  } else {
    if (!now.has_pattern_of(of_)) PetscCall(transpose_.reset());
    PetscCall(written_.share(given));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc transposes in host memory. Values that are newer in device memory are brought there before, since it does not
/// look, and those of the transpose in device memory are marked as old, which a second transposition does not do.
PetscErrorCode Transfer::transpose(const MatState& now) {
  PetscFunctionBegin;
  const bool there = transpose_ && now.has_pattern_of(of_);
  const PetscScalar* given = nullptr;
  PetscScalar* made = nullptr;
  if (!there) PetscCall(transpose_.reset());
  PetscCall(MatSeqAIJGetArrayRead(written_, &given));
  PetscCall(MatSeqAIJRestoreArrayRead(written_, &given));
  PetscCall(MatTranspose(written_, there ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, transpose_.out()));
  PetscCall(MatSeqAIJGetArray(transpose_, &made));
  PetscCall(MatSeqAIJRestoreArray(transpose_, &made));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Transfer::reset() {
  PetscFunctionBegin;
  of_ = {};
  PetscCall(matrix_.reset());
  PetscCall(written_.reset());
  PetscCall(transpose_.reset());
  PetscCall(operand_.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
