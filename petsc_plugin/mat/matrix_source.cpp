#include "mat/matrix_source.hpp"

#include <cstdint>

#include "boundary.hpp"
#include "mat/indices.hpp"

namespace taskdag::petsc {

PetscErrorCode MatrixSource::inspect(Mat matrix, bool upper_is_enough, PetscInt block_size) {
  PetscFunctionBegin;
  PetscInt rows = 0;
  PetscInt columns = 0;
  PetscCall(MatGetSize(matrix, &rows, &columns));
  PetscCheck(rows == columns, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "TaskDAG needs a square matrix, not %" PetscInt_FMT " rows and %" PetscInt_FMT " columns", rows, columns);
  PetscCall(look_at(matrix, upper_is_enough, block_size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatrixSource::look_at(Mat matrix, bool upper_is_enough, PetscInt block_size) {
  PetscFunctionBegin;
  block_size_ = block_size;
  PetscMPIInt ranks = 0;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(matrix)), &ranks));
  PetscCheck(ranks == 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "TaskDAG reads the matrix of one rank, not of %d",
             static_cast<int>(ranks));
  PetscCall(MatGetSize(matrix, &rows_, &columns_));
  PetscCall(check_fits(rows_, "rows"));
  PetscCall(check_fits(columns_, "columns"));
  PetscCall(reset());
  PetscCall(find_form(matrix, upper_is_enough));
  PetscCall(find_memory(matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatrixSource::find_form(Mat matrix, bool upper_is_enough) {
  PetscFunctionBegin;
  PetscBool aij = PETSC_FALSE;
  PetscBool baij = PETSC_FALSE;
  PetscBool sbaij = PETSC_FALSE;
  PetscInt block = 1;
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(matrix), MATSEQAIJ, &aij));
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(matrix), MATSEQBAIJ, &baij));
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(matrix), MATSEQSBAIJ, &sbaij));
  PetscCall(MatGetBlockSize(matrix, &block));
  converts_anew_ = sbaij == PETSC_TRUE && block > 1;
  if (aij && block_size_ == 1)
    form_ = Form::aij;
  else if (baij && block == block_size_)
    form_ = Form::baij;
  else if (sbaij && block == block_size_ && upper_is_enough)
    form_ = Form::upper_sbaij;
  else
    form_ = Form::converted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatrixSource::find_memory(Mat matrix) {
  PetscFunctionBegin;
  on_device_ = compresses_ = false;
  PetscBool cusparse = PETSC_FALSE;
  PetscBool kokkos = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(matrix), MATSEQAIJCUSPARSE, &cusparse));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(matrix), MATSEQAIJKOKKOS, &kokkos));
  if (rows_ == 0 || block_size_ > 1 || bound_to_cpu(matrix)) PetscFunctionReturn(PETSC_SUCCESS);
  if (kokkos) {
    // Kokkos says where it works: CUDA, host threads, or GPUs that we have no backend for. Its rows are never
    // compressed.
    PetscMemType where = PETSC_MEMTYPE_HOST;
    PetscCall(MatSeqAIJGetCSRAndMemType(matrix, nullptr, nullptr, nullptr, &where));
    on_device_ = in_cuda_memory(where);
  }
  compresses_ = cusparse == PETSC_TRUE;
  on_device_ = on_device_ || compresses_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatrixSource::open(Mat matrix, bool device) {
  PetscFunctionBegin;
  PetscCall(lend(matrix, device));
  if (block_size_ == 1 && complex_as_ != ComplexAs::rows) view_.pattern.cols = static_cast<Index>(columns_);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatrixSource::lend(Mat matrix, bool device) {
  PetscFunctionBegin;
  if (form_ == Form::converted) {
    if (converts_anew_) PetscCall(converted_.reset());
    PetscCall(MatConvert(matrix, block_size_ > 1 ? MATSEQBAIJ : MATSEQAIJ,
                         converted_ ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, converted_.out()));
    matrix = converted_;
  }
  if (!device || !on_device_ || complex_as_ == ComplexAs::rows) {
    PetscCall(open_host(matrix));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscScalar* values = nullptr;
  PetscMemType where = PETSC_MEMTYPE_HOST;
  const PetscInt* offsets = nullptr;
  const PetscInt* columns = nullptr;
  PetscCall(MatSeqAIJGetCSRAndMemType(matrix, &offsets, &columns, &values, &where));
  if (!in_cuda_memory(where)) {
    // It has been bound to the CPU since it was inspected.
    PetscCall(open_host(matrix));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (compresses_) PetscCall(get_all_rows(matrix, &offsets, &columns));
  PetscCall(open_device(offsets, columns));
  PetscCall(take_values_on_device(matrix, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatrixSource::open_device(const PetscInt* offsets, const PetscInt* columns) {
  PetscFunctionBegin;
  const auto size = static_cast<Index>(rows_);
  if constexpr (narrows) {
    if (!narrowed_) {
      Stream stream;
      PetscCall(current_stream(&stream));
      PetscCall(guarded([&] {
        narrowed_.emplace(size, reinterpret_cast<const std::int64_t*>(offsets),
                          reinterpret_cast<const std::int64_t*>(columns), stream);
      }));
    }
    view_.pattern = narrowed_->view();
  } else {
    view_.pattern = {size, size, reinterpret_cast<const Index*>(offsets), reinterpret_cast<const Index*>(columns)};
  }
  space_ = MemorySpace::device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On the pattern that open_device() has lent.
PetscErrorCode MatrixSource::take_values_on_device(Mat matrix, const PetscScalar* values) {
  PetscFunctionBegin;
  MatInfo sizes = {};
  Stream stream;
  if (RealValues::copies_on_device(complex_as_)) PetscCall(MatGetInfo(matrix, MAT_LOCAL, &sizes));
  PetscCall(current_stream(&stream));
  PetscCall(guarded([&] {
    const auto entries = static_cast<std::int64_t>(sizes.nz_used);
    view_ = real_values_.take_on_device(view_.pattern, values, entries, complex_as_, stream);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatrixSource::open_host(Mat matrix) {
  PetscFunctionBegin;
  PetscCall(pattern_.open(matrix, block_size_ > 1 ? PETSC_TRUE : PETSC_FALSE));
  if (lent_form() != Form::aij) {
    PetscScalar* writable = nullptr;
    PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(matrix), &state_));
    if (lent_form() == Form::baij)
      PetscCall(MatSeqBAIJGetArray(matrix, &writable));
    else
      PetscCall(MatSeqSBAIJGetArray(matrix, &writable));
    lent_values_ = writable;
  } else {
    PetscCall(MatSeqAIJGetArrayRead(matrix, &lent_values_));
  }
  space_ = MemorySpace::host;
  PetscCall(lent_.share(matrix));
  const PetscErrorCode taken = guarded([&] {
    view_ = real_values_.take(pattern_.pattern(), lent_values_, static_cast<Index>(block_size_), complex_as_);
  });
  if (static_cast<int>(taken) != 0) PetscCall(close());
  PetscCall(taken);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatrixSource::close() {
  PetscFunctionBegin;
  if (lent_) {
    if (lent_form() != Form::aij) {
      auto* writable = const_cast<PetscScalar*>(lent_values_);
      if (lent_form() == Form::baij)
        PetscCall(MatSeqBAIJRestoreArray(lent_, &writable));
      else
        PetscCall(MatSeqSBAIJRestoreArray(lent_, &writable));
      // There is no such call for reading, and newer releases take this one for new values.
      PetscCall(PetscObjectStateSet(reinterpret_cast<PetscObject>(lent_.get()), state_));
    } else {
      PetscCall(MatSeqAIJRestoreArrayRead(lent_, &lent_values_));
    }
    PetscCall(pattern_.close());
  }
  PetscCall(lent_.reset());
  lent_values_ = nullptr;
  real_values_.forget();
  view_ = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatrixSource::reset() {
  PetscFunctionBegin;
  PetscCall(converted_.reset());
  pattern_.forget();
  narrowed_.reset();
  real_values_.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
