/// \file
/// How much device memory the library has in use: for benchmarks.
#pragma once

#include <cstdint>

namespace taskdag::cuda {

/// The most bytes of the library's pool on the current device that were in use since the last call, which starts anew
/// with what is in use now. Memory of arrays that cudaFree() gave back stays counted (driver 580), though it is used
/// again: so take the difference of two calls, which is the most or, where arrays went meanwhile, more. 0 where the
/// device has no pool. Waits for the device. @throws DeviceError
std::uint64_t most_device_bytes();

}  // namespace taskdag::cuda
