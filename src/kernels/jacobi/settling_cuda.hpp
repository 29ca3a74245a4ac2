/// \file
/// Whether Jacobi sweeps come to rest, on CUDA.
#pragma once

#include <cuda_runtime_api.h>

#include "csr/pattern.hpp"

namespace taskdag::kernels {

/// As host_settling(). All arrays in device memory. Synchronises `stream`.
double cuda_settling(const DevicePattern& pattern, const double* values, cudaStream_t stream);

}  // namespace taskdag::kernels
