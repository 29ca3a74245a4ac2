/// \file
/// The rates of a device, which models of time go by.
#pragma once

#include "taskdag/calibration.hpp"

namespace taskdag::cuda {

/// As taskdag::calibration(), of a device by its number.
Calibration calibration_of_device(int device);

/// The rates alone, of the current device.
DeviceRates device_rates();

/// As taskdag::calibrate(), of a device by its number.
Calibration calibrate_device(int device, bool again);

}  // namespace taskdag::cuda
