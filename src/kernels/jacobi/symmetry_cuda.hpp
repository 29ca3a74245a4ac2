/// \file
/// Whether a matrix is its own transpose, on CUDA.
#pragma once

#include <cuda_runtime_api.h>

#include "csr/pattern.hpp"

namespace taskdag::kernels {

/// As host_symmetric(). All arrays in device memory. Synchronises `stream`.
bool cuda_symmetric(const DevicePattern& pattern, const double* values, cudaStream_t stream);

}  // namespace taskdag::kernels
