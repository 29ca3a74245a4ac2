#include "mg/transfer.hpp"

namespace taskdag::petsc {
namespace {

PetscErrorCode has_entries(Mat given, bool* entries, bool* repeated) {
  PetscFunctionBegin;
  PetscBool aij = PETSC_FALSE;
  PetscBool maij = PETSC_FALSE;
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(given), type_by_rows(given), &aij));
  PetscCall(
      PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(given), &maij, MATMAIJ, MATSEQMAIJ, MATMPIMAIJ, ""));
  *entries = aij == PETSC_TRUE;
  *repeated = maij == PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Brings the values of a matrix, or of what a rank has of it, to host memory. written: those that are there are the
/// newest.
PetscErrorCode bring_values(Mat matrix, bool written) {
  PetscFunctionBegin;
  Mat inner = matrix;
  Mat outer = nullptr;
  if (is_on_ranks(matrix)) PetscCall(MatMPIAIJGetSeqAIJ(matrix, &inner, &outer, nullptr));
  for (Mat const part : {inner, outer}) {
    const PetscScalar* values = nullptr;
    PetscScalar* changed = nullptr;
    if (!part) continue;
    if (written) {
      PetscCall(MatSeqAIJGetArray(part, &changed));
      PetscCall(MatSeqAIJRestoreArray(part, &changed));
    } else {
      PetscCall(MatSeqAIJGetArrayRead(part, &values));
      PetscCall(MatSeqAIJRestoreArrayRead(part, &values));
    }
  }
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

PetscErrorCode Transfer::take(Mat given, PetscInt rows, RankMatrix::Reach reach) {
  PetscFunctionBegin;
  MatState now;
  PetscInt own_rows = 0;
  PetscCall(read_state(given, &now));
  if (now != of_) PetscCall(write_out(given, now));
  PetscCall(MatGetSize(given, &own_rows, nullptr));
  if (own_rows != rows && now != of_) PetscCall(transpose(now));
  PetscCall(matrix_.share(own_rows == rows ? written_ : transpose_));
  PetscCall(on_rank_.take(matrix_, reach));
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
    PetscCall(MatConvert(given, type_by_rows(given), MAT_INITIAL_MATRIX, written_.out()));
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
  if (!there) PetscCall(transpose_.reset());
  PetscCall(bring_values(written_, false));
  PetscCall(MatTranspose(written_, there ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, transpose_.out()));
  PetscCall(bring_values(transpose_, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Transfer::reset() {
  PetscFunctionBegin;
  of_ = {};
  PetscCall(matrix_.reset());
  PetscCall(written_.reset());
  PetscCall(transpose_.reset());
  PetscCall(on_rank_.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
