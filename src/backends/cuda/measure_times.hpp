/// \file
/// What a calibration measures.
#pragma once

#include "base/rates/rates.hpp"

namespace taskdag::cuda {

/// Of the current device, in a quarter of a second. Synchronises.
/// @throws DeviceError where blocks of one launch do not run at the same time; OutOfMemory
rates::DeviceTimes measure_times();

}  // namespace taskdag::cuda
