/// \file
/// Slots and tickets before a first solve.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace taskdag::kernels::cells {

/// Sets both arrays of `count` slots to not_yet and both tickets to 0. Asynchronous.
void arm_slots(std::int64_t count, double* slots, double* spare, unsigned* tickets, cudaStream_t stream);

}  // namespace taskdag::kernels::cells
