/// \file
/// How fast a GPU is at what solves are made of, which is what the models behind automatic choices are in, and the
/// calibration that measures it.
#pragma once

#include <string>

#include "taskdag/context.hpp"
#include "taskdag/export.hpp"

namespace taskdag {

/// How many times as long as on an H200, for which the models have their microseconds, something takes on a GPU.
struct DeviceRates {
  double launch = 1.0;  ///< the launch of a kernel
  double hop = 1.0;     ///< a value that one multiprocessor hands over to another one
  double step = 1.0;    ///< work inside a multiprocessor that needs the result of the step before
  double byte = 1.0;    ///< a byte from memory or to it
  bool operator==(const DeviceRates&) const = default;
};

/// Rates, and where they come from.
struct Calibration {
  DeviceRates rates;
  std::string source;  ///< one clause for people
};

/// What choices on this context's device go by: what a calibration has left in the user's cache folder for devices of
/// this name, under this driver; else the defaults of the device's generation. Looked for once a process and device.
/// On the host all rates are 1. @throws DeviceError
TASKDAG_API Calibration calibration(const Context& context);

/// Measures the rates of the context's device, in less than a second, and keeps them in the file `rates.json` in
/// `$TASKDAG_CACHE_DIR`, `$XDG_CACHE_HOME/taskdag` or `$HOME/.cache/taskdag`, the first of them that the environment
/// has. Choices of this process go by them from now on, those of others from their start. What the file has of the
/// device is measured anew if `again`, else taken. Several processes that calibrate do so one after the other. A file
/// that cannot be read or written is warned of on the standard error, once. The device should have nothing else to do.
/// On the host there is nothing to measure.
/// @throws DeviceError, also where other work on the device keeps the measurement from ending; OutOfMemory
TASKDAG_API Calibration calibrate(const Context& context, bool again = true);

}  // namespace taskdag
