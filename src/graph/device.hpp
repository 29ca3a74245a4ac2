/// \file
/// What a plan asks of a device: runs.cu, or a refusal in runs_absent.cpp.
#pragma once

#include "taskdag/context.hpp"

namespace taskdag::engine {

/// Of the device of a CUDA context. @throws DeviceError
int multiprocessors(const Context& context);

}  // namespace taskdag::engine
