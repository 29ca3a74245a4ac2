/// \file
/// Running sums in device memory, of arrays; scan.cuh has those over iterators. Compiled once (sort.hpp says why).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "taskdag/csr.hpp"

namespace taskdag::cuda {

/// sum[k] = in[0] + … + in[k − 1] for k < n; `in` may be `sum`. Asynchronous.
void exclusive_sum(const Index* in, Index* sum, std::int64_t n, cudaStream_t stream);
void exclusive_sum(const std::uint32_t* in, std::uint32_t* sum, std::int64_t n, cudaStream_t stream);
void exclusive_sum(const std::int64_t* in, std::int64_t* sum, std::int64_t n, cudaStream_t stream);

/// The same with in[k].
void inclusive_sum(const Index* in, Index* sum, std::int64_t n, cudaStream_t stream);
void inclusive_sum(const std::int64_t* in, std::int64_t* sum, std::int64_t n, cudaStream_t stream);

}  // namespace taskdag::cuda
