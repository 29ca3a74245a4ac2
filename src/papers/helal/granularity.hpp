/// \file
/// The size of adaptive tasks from what the device needs. Source: Helal et al. 2019, Eq. (1) and (2).
#pragma once

#include <cuda_runtime_api.h>

#include "papers/helal/launcher.hpp"

namespace taskdag::kernels {

/// Eq. (1): rows that fill the device: multiprocessors · warps of `kernel` that fit on one · rows a warp.
Index smallest_granularity(const void* kernel, double rows_per_warp);

/// T_l: microseconds that one more adaptive task in a chain costs, with a kernel that does nothing. Measured on the
/// current device when first asked for, then remembered for the process. Synchronises `stream`.
double launch_microseconds(RunMode mode, cudaStream_t stream);

}  // namespace taskdag::kernels
