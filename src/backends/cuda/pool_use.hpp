/// \file
/// How much device memory the library has in use: for benchmarks.
#pragma once

#include <cstdint>

namespace taskdag::cuda {

/// The most bytes of the library's arrays on the current device that were in use at once since the last call, which
/// starts anew with what is in use now; of two calls in a row the second says that. @throws DeviceError
std::uint64_t most_device_bytes();

}  // namespace taskdag::cuda
