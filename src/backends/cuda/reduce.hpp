/// \file
/// What a whole array in device memory comes to. Compiled once (sort.hpp says why).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "taskdag/csr.hpp"

namespace taskdag::cuda {

/// The largest of in[0 … n), n >= 1. Synchronises `stream`.
Index largest(const Index* in, std::int64_t n, cudaStream_t stream);
double largest(const double* in, std::int64_t n, cudaStream_t stream);

/// The largest |in[i]|, a NaN if there is one; 0 of none. Synchronises `stream`.
double largest_size(const double* in, std::int64_t n, cudaStream_t stream);

/// The smallest.
double smallest(const double* in, std::int64_t n, cudaStream_t stream);

/// The sum, 0 of none, which must fit. Synchronises `stream`.
Index sum(const Index* in, std::int64_t n, cudaStream_t stream);

}  // namespace taskdag::cuda
