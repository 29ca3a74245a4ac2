/// \file
/// Reverse Cuthill–McKee on CUDA.
#pragma once

#include "backends/cuda/memory.hpp"
#include "csr/pattern.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag::kernels {

/// Writes order[new] = old to a device array of a.rows, the same as reverse_cuthill_mckee() of the pattern.
/// @pre columns are in range and ascend inside the rows. `times`: null, or what to fill in. Synchronises `stream`.
void cuda_reverse_cuthill_mckee(const DevicePattern& a, Index* order, OrderingTimes* times, cudaStream_t stream);

}  // namespace taskdag::kernels
