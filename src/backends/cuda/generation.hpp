/// \file
/// What device and code can do together.
#pragma once

namespace taskdag::cuda {

/// The lesser of two compute capabilities, times ten (90 is 9.0): that of the current device and the one that this
/// library's kernels were compiled for, which a device that is newer than them runs as they are. What a kernel has
/// under `__CUDA_ARCH__ >= 10 * g` is there where this is g or more; a launch that depends on what a device can do asks
/// here and nowhere else (tests/generations.py). Read once per thread and device. @throws DeviceError where the library
/// has no code for the device
int generation();

/// Launches a kernel on the current device and waits for it, once a process where it succeeds. @throws DeviceError,
/// OutOfMemory with the driver's words where the device is there and cannot be used: no code for it, another process'
/// alone, no memory left
void try_device();

}  // namespace taskdag::cuda
