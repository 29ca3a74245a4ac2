/// \file
/// Dominance of the diagonal on CUDA.
#pragma once

#include <cuda_runtime_api.h>

#include "csr/pattern.hpp"
#include "taskdag/dominance.hpp"

namespace taskdag::kernels {

/// All arrays in device memory. Synchronises `stream`.
DiagonalDominance cuda_dominance(const DevicePattern& pattern, const double* values, const DominanceLimits& limits,
                                 cudaStream_t stream);

}  // namespace taskdag::kernels
