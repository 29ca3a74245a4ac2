/// \file
/// cuSPARSE's triangular solves, incomplete factorisations and product behind small owners, for comparison.
#pragma once

#include <cuda_runtime_api.h>
#include <cusparse.h>

#include "backends/cuda/memory.hpp"
#include "taskdag/factorization.hpp"

namespace taskdag::benchmark {

/// @throws DeviceError naming `what`
void check_cusparse(cusparseStatus_t status, const char* what);

/// A cuSPARSE handle on the default stream.
class CusparseHandle {
 public:
  CusparseHandle();
  ~CusparseHandle();
  CusparseHandle(const CusparseHandle&) = delete;
  CusparseHandle& operator=(const CusparseHandle&) = delete;
  [[nodiscard]] cusparseHandle_t get() const { return handle_; }

 private:
  cusparseHandle_t handle_ = nullptr;
};

/// A CSR matrix in device memory.
struct DeviceMatrix {
  Index rows = 0;
  Offset entries = 0;
  cuda::DeviceArray<Offset> row_offsets;
  cuda::DeviceArray<Index> col_indices;
  cuda::DeviceArray<double> values;
  explicit DeviceMatrix(const CsrMatrix& a);
  [[nodiscard]] CsrView view() const { return {{rows, rows, row_offsets.data(), col_indices.data()}, values.data()}; }
};

/// cuSPARSE's solve with one triangle of a matrix that may hold both: SpSV for one right-hand side, SpSM for several.
/// The constructor analyses and waits for the end of it.
class CusparseSolve {
 public:
  /// b and x: `count` columns of a.rows doubles in device memory. Of the options, the schedule means nothing here.
  CusparseSolve(const CusparseHandle& handle, const DeviceMatrix& a, const TriangularOptions& options, double* b,
                double* x, int count);
  ~CusparseSolve();
  CusparseSolve(const CusparseSolve&) = delete;
  CusparseSolve& operator=(const CusparseSolve&) = delete;
  void solve();

 private:
  void analyse_one(double* b, double* x, Index rows);
  void analyse_many(double* b, double* x, Index rows, int count);
  void destroy() noexcept;

  cusparseHandle_t handle_;
  cusparseOperation_t operation_;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t b_ = nullptr;
  cusparseDnVecDescr_t x_ = nullptr;
  cusparseDnMatDescr_t many_b_ = nullptr;
  cusparseDnMatDescr_t many_x_ = nullptr;
  cusparseSpSVDescr_t one_ = nullptr;
  cusparseSpSMDescr_t many_ = nullptr;
  cuda::DeviceArray<char> buffer_;
};

/// csrilu02 or csric02 in place on a copy of the values. The constructor analyses and waits for the end of it.
class Csr02 {
 public:
  Csr02(const CusparseHandle& handle, const DeviceMatrix& a, FactorKind kind);
  ~Csr02();
  Csr02(const Csr02&) = delete;
  Csr02& operator=(const Csr02&) = delete;
  /// Copies the matrix's values into the working array (not part of what is timed).
  void reset();
  void factor();
  [[nodiscard]] const double* values() const { return values_.data(); }

 private:
  cusparseHandle_t handle_;
  const DeviceMatrix& a_;
  FactorKind kind_;
  cusparseMatDescr_t descr_ = nullptr;
  csrilu02Info_t ilu_ = nullptr;
  csric02Info_t ic_ = nullptr;
  cuda::DeviceArray<double> values_;
  cuda::DeviceArray<char> buffer_;
};

/// y = A x, for scale.
class SpMV {
 public:
  SpMV(const CusparseHandle& handle, const DeviceMatrix& a, double* x, double* y);
  ~SpMV();
  SpMV(const SpMV&) = delete;
  SpMV& operator=(const SpMV&) = delete;
  void multiply();

 private:
  cusparseHandle_t handle_;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t x_ = nullptr;
  cusparseDnVecDescr_t y_ = nullptr;
  cuda::DeviceArray<char> buffer_;
};

}  // namespace taskdag::benchmark
