#include "rivals.hpp"

#include <string>

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

namespace {

cusparseSpMatDescr_t describe(const DeviceMatrix& a) {
  cusparseSpMatDescr_t matrix = nullptr;
  check_cusparse(
      cusparseCreateCsr(&matrix, a.rows, a.rows, a.entries, a.row_offsets.data(), a.col_indices.data(), a.values.data(),
                        CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
      "cusparseCreateCsr");
  return matrix;
}

cusparseDnVecDescr_t describe(double* vector, Index rows) {
  cusparseDnVecDescr_t result = nullptr;
  check_cusparse(cusparseCreateDnVec(&result, rows, vector, CUDA_R_64F), "cusparseCreateDnVec");
  return result;
}

cusparseDnMatDescr_t describe(double* columns, Index rows, int count) {
  cusparseDnMatDescr_t result = nullptr;
  check_cusparse(cusparseCreateDnMat(&result, rows, count, rows, columns, CUDA_R_64F, CUSPARSE_ORDER_COL),
                 "cusparseCreateDnMat");
  return result;
}

}  // namespace

CusparseHandle::CusparseHandle() { check_cusparse(cusparseCreate(&handle_), "cusparseCreate"); }
CusparseHandle::~CusparseHandle() { cusparseDestroy(handle_); }

CusparseSolve::CusparseSolve(const CusparseHandle& handle, const DeviceMatrix& a, const TriangularOptions& options,
                             double* b, double* x, int count)
    : handle_(handle.get()),
      operation_(options.transposed ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE),
      matrix_(describe(a)) {
  try {
    cusparseFillMode_t fill = options.triangle == Triangle::lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
    cusparseDiagType_t diagonal = options.unit_diagonal ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
    check_cusparse(cusparseSpMatSetAttribute(matrix_, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof(fill)), "fill mode");
    check_cusparse(cusparseSpMatSetAttribute(matrix_, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof(diagonal)),
                   "diagonal type");
    if (count == 1) {
      analyse_one(b, x, a.rows);
    } else {
      analyse_many(b, x, a.rows, count);
    }
    cuda::synchronize(nullptr);
  } catch (...) {
    destroy();
    throw;
  }
}

void CusparseSolve::analyse_one(double* b, double* x, Index rows) {
  b_ = describe(b, rows);
  x_ = describe(x, rows);
  check_cusparse(cusparseSpSV_createDescr(&one_), "cusparseSpSV_createDescr");
  std::size_t bytes = 0;
  check_cusparse(cusparseSpSV_bufferSize(handle_, operation_, &kOne, matrix_, b_, x_, CUDA_R_64F,
                                         CUSPARSE_SPSV_ALG_DEFAULT, one_, &bytes),
                 "cusparseSpSV_bufferSize");
  buffer_ = {bytes, nullptr};
  check_cusparse(cusparseSpSV_analysis(handle_, operation_, &kOne, matrix_, b_, x_, CUDA_R_64F,
                                       CUSPARSE_SPSV_ALG_DEFAULT, one_, buffer_.data()),
                 "cusparseSpSV_analysis");
}

void CusparseSolve::analyse_many(double* b, double* x, Index rows, int count) {
  many_b_ = describe(b, rows, count);
  many_x_ = describe(x, rows, count);
  check_cusparse(cusparseSpSM_createDescr(&many_), "cusparseSpSM_createDescr");
  std::size_t bytes = 0;
  check_cusparse(cusparseSpSM_bufferSize(handle_, operation_, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, matrix_, many_b_,
                                         many_x_, CUDA_R_64F, CUSPARSE_SPSM_ALG_DEFAULT, many_, &bytes),
                 "cusparseSpSM_bufferSize");
  buffer_ = {bytes, nullptr};
  check_cusparse(cusparseSpSM_analysis(handle_, operation_, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, matrix_, many_b_,
                                       many_x_, CUDA_R_64F, CUSPARSE_SPSM_ALG_DEFAULT, many_, buffer_.data()),
                 "cusparseSpSM_analysis");
}

void CusparseSolve::destroy() noexcept {
  if (one_) cusparseSpSV_destroyDescr(one_);
  if (many_) cusparseSpSM_destroyDescr(many_);
  if (b_) cusparseDestroyDnVec(b_);
  if (x_) cusparseDestroyDnVec(x_);
  if (many_b_) cusparseDestroyDnMat(many_b_);
  if (many_x_) cusparseDestroyDnMat(many_x_);
  cusparseDestroySpMat(matrix_);
}

CusparseSolve::~CusparseSolve() { destroy(); }

void CusparseSolve::solve() {
  if (one_) {
    check_cusparse(
        cusparseSpSV_solve(handle_, operation_, &kOne, matrix_, b_, x_, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, one_),
        "cusparseSpSV_solve");
  } else {
    check_cusparse(cusparseSpSM_solve(handle_, operation_, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, matrix_, many_b_,
                                      many_x_, CUDA_R_64F, CUSPARSE_SPSM_ALG_DEFAULT, many_),
                   "cusparseSpSM_solve");
  }
}

Csr02::Csr02(const CusparseHandle& owner, const DeviceMatrix& a, FactorKind kind)
    : handle_(owner.get()), a_(a), kind_(kind), values_(a.values.size(), nullptr) {
  reset();
  check_cusparse(cusparseCreateMatDescr(&descr_), "cusparseCreateMatDescr");
  int bytes = 0;
  if (kind == FactorKind::ilu) {
    check_cusparse(cusparseCreateCsrilu02Info(&ilu_), "cusparseCreateCsrilu02Info");
    check_cusparse(cusparseDcsrilu02_bufferSize(handle_, a.rows, a.entries, descr_, values_.data(),
                                                a.row_offsets.data(), a.col_indices.data(), ilu_, &bytes),
                   "csrilu02_bufferSize");
    buffer_ = {static_cast<std::size_t>(bytes), nullptr};
    check_cusparse(
        cusparseDcsrilu02_analysis(handle_, a.rows, a.entries, descr_, values_.data(), a.row_offsets.data(),
                                   a.col_indices.data(), ilu_, CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer_.data()),
        "csrilu02_analysis");
  } else {
    check_cusparse(cusparseCreateCsric02Info(&ic_), "cusparseCreateCsric02Info");
    check_cusparse(cusparseDcsric02_bufferSize(handle_, a.rows, a.entries, descr_, values_.data(), a.row_offsets.data(),
                                               a.col_indices.data(), ic_, &bytes),
                   "csric02_bufferSize");
    buffer_ = {static_cast<std::size_t>(bytes), nullptr};
    check_cusparse(
        cusparseDcsric02_analysis(handle_, a.rows, a.entries, descr_, values_.data(), a.row_offsets.data(),
                                  a.col_indices.data(), ic_, CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer_.data()),
        "csric02_analysis");
  }
  cuda::synchronize(nullptr);
}

Csr02::~Csr02() {
  if (ilu_) cusparseDestroyCsrilu02Info(ilu_);
  if (ic_) cusparseDestroyCsric02Info(ic_);
  cusparseDestroyMatDescr(descr_);
}

void Csr02::reset() { cuda::copy_on_device(values_.data(), a_.values.data(), a_.values.size(), nullptr); }

void Csr02::factor() {
  if (kind_ == FactorKind::ilu) {
    check_cusparse(cusparseDcsrilu02(handle_, a_.rows, a_.entries, descr_, values_.data(), a_.row_offsets.data(),
                                     a_.col_indices.data(), ilu_, CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer_.data()),
                   "csrilu02");
  } else {
    check_cusparse(cusparseDcsric02(handle_, a_.rows, a_.entries, descr_, values_.data(), a_.row_offsets.data(),
                                    a_.col_indices.data(), ic_, CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer_.data()),
                   "csric02");
  }
}

SpMV::SpMV(const CusparseHandle& handle, const DeviceMatrix& a, double* x, double* y)
    : handle_(handle.get()), matrix_(describe(a)), x_(describe(x, a.rows)), y_(describe(y, a.rows)) {
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
