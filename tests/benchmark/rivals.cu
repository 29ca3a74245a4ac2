#include <string>

#include "backends/cuda/stream.hpp"
#include "rivals.hpp"
#include "taskdag/error.hpp"

namespace taskdag::benchmark {
namespace {
constexpr double kOne = 1.0;
constexpr double kZero = 0.0;
}  // namespace

void check_cusparse(cusparseStatus_t status, const char* what) {
  if (status != CUSPARSE_STATUS_SUCCESS) throw DeviceError(std::string(what) + ": " + cusparseGetErrorString(status));
}

DeviceMatrix::DeviceMatrix(const CsrMatrix& a)
    : rows(a.rows),
      entries(a.entries()),
      row_offsets(a.row_offsets.size(), nullptr),
      col_indices(a.col_indices.size(), nullptr),
      values(a.values.size(), nullptr) {
  cuda::copy_to_device(row_offsets.data(), a.row_offsets.data(), a.row_offsets.size(), nullptr);
  cuda::copy_to_device(col_indices.data(), a.col_indices.data(), a.col_indices.size(), nullptr);
  cuda::copy_to_device(values.data(), a.values.data(), a.values.size(), nullptr);
  cuda::synchronize(nullptr);
}

SpSV::SpSV(cusparseHandle_t handle, const DeviceMatrix& a, bool lower, bool unit, double* b, double* x)
    : handle_(handle) {
  check_cusparse(
      cusparseCreateCsr(&matrix_, a.rows, a.rows, a.entries, a.row_offsets.data(), a.col_indices.data(),
                        a.values.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
      "cusparseCreateCsr");
  cusparseFillMode_t fill = lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
  cusparseDiagType_t diagonal = unit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
  check_cusparse(cusparseSpMatSetAttribute(matrix_, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof(fill)), "fill mode");
  check_cusparse(cusparseSpMatSetAttribute(matrix_, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof(diagonal)),
                 "diagonal type");
  check_cusparse(cusparseCreateDnVec(&b_, a.rows, b, CUDA_R_64F), "cusparseCreateDnVec");
  check_cusparse(cusparseCreateDnVec(&x_, a.rows, x, CUDA_R_64F), "cusparseCreateDnVec");
  check_cusparse(cusparseSpSV_createDescr(&descr_), "cusparseSpSV_createDescr");
  std::size_t bytes = 0;
  check_cusparse(cusparseSpSV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, matrix_, b_, x_, CUDA_R_64F,
                                         CUSPARSE_SPSV_ALG_DEFAULT, descr_, &bytes),
                 "cusparseSpSV_bufferSize");
  buffer_ = {bytes, nullptr};
  cuda::synchronize(nullptr);
  const cuda::UniqueEvent start;
  const cuda::UniqueEvent end;
  start.record(nullptr);
  check_cusparse(cusparseSpSV_analysis(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, matrix_, b_, x_, CUDA_R_64F,
                                       CUSPARSE_SPSV_ALG_DEFAULT, descr_, buffer_.data()),
                 "cusparseSpSV_analysis");
  end.record(nullptr);
  analysis_ms_ = end.milliseconds_since(start);
}

SpSV::~SpSV() {
  cusparseSpSV_destroyDescr(descr_);
  cusparseDestroyDnVec(b_);
  cusparseDestroyDnVec(x_);
  cusparseDestroySpMat(matrix_);
}

void SpSV::solve() {
  check_cusparse(cusparseSpSV_solve(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, matrix_, b_, x_, CUDA_R_64F,
                                    CUSPARSE_SPSV_ALG_DEFAULT, descr_),
                 "cusparseSpSV_solve");
}

Csr02::Csr02(cusparseHandle_t handle, const DeviceMatrix& a, FactorKind kind)
    : handle_(handle), a_(a), kind_(kind), values_(a.values.size(), nullptr) {
  reset();
  check_cusparse(cusparseCreateMatDescr(&descr_), "cusparseCreateMatDescr");
  int bytes = 0;
  if (kind == FactorKind::ilu0) {
    check_cusparse(cusparseCreateCsrilu02Info(&ilu_), "cusparseCreateCsrilu02Info");
    check_cusparse(cusparseDcsrilu02_bufferSize(handle, a.rows, a.entries, descr_, values_.data(), a.row_offsets.data(),
                                                a.col_indices.data(), ilu_, &bytes),
                   "csrilu02_bufferSize");
    buffer_ = {static_cast<std::size_t>(bytes), nullptr};
    check_cusparse(
        cusparseDcsrilu02_analysis(handle, a.rows, a.entries, descr_, values_.data(), a.row_offsets.data(),
                                   a.col_indices.data(), ilu_, CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer_.data()),
        "csrilu02_analysis");
  } else {
    check_cusparse(cusparseCreateCsric02Info(&ic_), "cusparseCreateCsric02Info");
    check_cusparse(cusparseDcsric02_bufferSize(handle, a.rows, a.entries, descr_, values_.data(), a.row_offsets.data(),
                                               a.col_indices.data(), ic_, &bytes),
                   "csric02_bufferSize");
    buffer_ = {static_cast<std::size_t>(bytes), nullptr};
    check_cusparse(
        cusparseDcsric02_analysis(handle, a.rows, a.entries, descr_, values_.data(), a.row_offsets.data(),
                                  a.col_indices.data(), ic_, CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer_.data()),
        "csric02_analysis");
  }
}

Csr02::~Csr02() {
  if (ilu_) cusparseDestroyCsrilu02Info(ilu_);
  if (ic_) cusparseDestroyCsric02Info(ic_);
  cusparseDestroyMatDescr(descr_);
}

void Csr02::reset() { cuda::copy_on_device(values_.data(), a_.values.data(), a_.values.size(), nullptr); }

void Csr02::factor() {
  if (kind_ == FactorKind::ilu0) {
    check_cusparse(cusparseDcsrilu02(handle_, a_.rows, a_.entries, descr_, values_.data(), a_.row_offsets.data(),
                                     a_.col_indices.data(), ilu_, CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer_.data()),
                   "csrilu02");
  } else {
    check_cusparse(cusparseDcsric02(handle_, a_.rows, a_.entries, descr_, values_.data(), a_.row_offsets.data(),
                                    a_.col_indices.data(), ic_, CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer_.data()),
                   "csric02");
  }
}

SpMV::SpMV(cusparseHandle_t handle, const DeviceMatrix& a, double* x, double* y) : handle_(handle) {
  check_cusparse(
      cusparseCreateCsr(&matrix_, a.rows, a.rows, a.entries, a.row_offsets.data(), a.col_indices.data(),
                        a.values.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
      "cusparseCreateCsr");
  check_cusparse(cusparseCreateDnVec(&x_, a.rows, x, CUDA_R_64F), "cusparseCreateDnVec");
  check_cusparse(cusparseCreateDnVec(&y_, a.rows, y, CUDA_R_64F), "cusparseCreateDnVec");
  std::size_t bytes = 0;
  check_cusparse(cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, matrix_, x_, &kZero, y_,
                                         CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes),
                 "cusparseSpMV_bufferSize");
  buffer_ = {bytes, nullptr};
}

SpMV::~SpMV() {
  cusparseDestroyDnVec(x_);
  cusparseDestroyDnVec(y_);
  cusparseDestroySpMat(matrix_);
}

void SpMV::multiply() {
  check_cusparse(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, matrix_, x_, &kZero, y_, CUDA_R_64F,
                              CUSPARSE_SPMV_ALG_DEFAULT, buffer_.data()),
                 "cusparseSpMV");
}

}  // namespace taskdag::benchmark
