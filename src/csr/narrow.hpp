/// \file
/// Indices of 64 bits as indices of 32.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// to[k] = from[k] for k in [0, n); *bad becomes 1 where one is below 0 or above `most`. Device memory. Asynchronous.
void narrow(std::int64_t n, const std::int64_t* from, std::int64_t most, Index* to, int* bad, cudaStream_t stream);

}  // namespace taskdag::kernels
