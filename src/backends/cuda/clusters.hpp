/// \file
/// How large clusters of thread blocks can be.
#pragma once

#include <cstddef>

namespace taskdag::cuda {

/// Blocks of the largest cluster of such blocks of `kernel` that device and code have room for, 16 or 8; 1: there are
/// none. The kernel may be launched in clusters of so many afterwards. @throws DeviceError
int largest_cluster(const void* kernel, int threads, std::size_t shared_bytes);

}  // namespace taskdag::cuda
