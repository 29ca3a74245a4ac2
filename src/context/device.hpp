/// \file
/// The devices that a context may be on. A build without CUDA has none: device_absent.cpp says so.
#pragma once

#include <string>

#include "taskdag/calibration.hpp"
#include "taskdag/context.hpp"

namespace taskdag::cuda {

DeviceProbe probe();
/// Makes `device` (-1: the current one) the calling thread's, and runs a kernel on it. @returns its number.
/// @throws DeviceError, OutOfMemory where it cannot be used
int open_device(int device);
std::string device_name(int device);
/// @throws DeviceError
std::string device_uuid(int device);
/// @throws DeviceError
double device_free_memory(int device);
/// As taskdag::calibration() and taskdag::calibrate(), of a device by its number.
Calibration calibration(int device);
Calibration calibrate(int device, bool again);

}  // namespace taskdag::cuda
