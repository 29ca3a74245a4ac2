/// \file
/// How much memory of the device is free.
#pragma once

#include <cstdint>

#include "taskdag/context.hpp"

namespace taskdag::test {

/// 0 on the host backend. @throws DeviceError
std::int64_t free_device_bytes(Backend backend);

}  // namespace taskdag::test
