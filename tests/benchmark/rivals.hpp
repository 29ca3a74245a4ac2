/// \file
/// cuSPARSE's triangular solve and incomplete factorisations behind small owners, for comparison.
#pragma once

#include <cuda_runtime_api.h>
#include <cusparse.h>

#include "backends/cuda/memory.hpp"
#include "taskdag/factorization.hpp"

namespace taskdag::benchmark {

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

/// cusparseSpSV on one triangle of a matrix that holds L and U together.
class SpSV {
 public:
  SpSV(cusparseHandle_t handle, const DeviceMatrix& a, bool lower, bool unit, double* b, double* x);
  ~SpSV();
  SpSV(const SpSV&) = delete;
  SpSV& operator=(const SpSV&) = delete;
  void solve();
  [[nodiscard]] float analysis_ms() const { return analysis_ms_; }

 private:
  cusparseHandle_t handle_;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t b_ = nullptr;
  cusparseDnVecDescr_t x_ = nullptr;
  cusparseSpSVDescr_t descr_ = nullptr;
  cuda::DeviceArray<char> buffer_;
  float analysis_ms_ = 0.0F;
};

/// csrilu02 or csric02 in place on a copy of the values.
class Csr02 {
 public:
  Csr02(cusparseHandle_t handle, const DeviceMatrix& a, FactorKind kind);
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
  SpMV(cusparseHandle_t handle, const DeviceMatrix& a, double* x, double* y);
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

void check_cusparse(cusparseStatus_t status, const char* what);

}  // namespace taskdag::benchmark
