/// \file
/// Residuals on CUDA, for sweeps whose corrections are made of them.
#pragma once

#include <cuda_runtime_api.h>

#include "csr/pattern.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// Rows with very many entries, which thread blocks have to themselves.
struct LongRows {
  Offset most;       ///< entries of a row that is none
  const Index* row;  ///< their numbers
  Index count;
};

/// r = b − A x, r apart from both. Every array in device memory. Asynchronous on `stream`.
void cuda_residual(const DevicePattern& pattern, const double* values, const LongRows& rows, const double* b,
                   const double* x, double* r, cudaStream_t stream);

}  // namespace taskdag::kernels
