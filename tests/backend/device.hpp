/// \file
/// Device memory for tests, without CUDA in any signature: device_cuda.cpp, or device_absent.cpp in a build without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "taskdag/context.hpp"

namespace taskdag::test {

/// A piece of device memory.
class DeviceBuffer {
 public:
  virtual ~DeviceBuffer() = default;
  virtual void* data() = 0;
  /// Copies the contents to host memory. Synchronises the stream.
  virtual void read(void* to) = 0;
};

/// A stream of its own, which does not wait for the default stream, and memory that belongs to it.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;
  [[nodiscard]] virtual Stream stream() const = 0;
  virtual std::unique_ptr<DeviceBuffer> upload(const void* from, std::size_t bytes) = 0;
  /// Uninitialised memory.
  virtual std::unique_ptr<DeviceBuffer> allocate(std::size_t bytes) = 0;
};

/// Whether the current device and the library's code for it have the schedule cells. False where there is no device.
bool device_has_cells();

/// @throws DeviceError in a build without CUDA
std::unique_ptr<DeviceStream> make_device_stream();

/// Bytes of the library's arrays on the current device; the peak since the last call of restart_peak().
std::int64_t live_device_bytes();
std::int64_t peak_device_bytes();
void restart_peak();
/// What the library's pool has taken from the device, in use or not. Waits for the device.
std::int64_t reserved_device_bytes();

}  // namespace taskdag::test
