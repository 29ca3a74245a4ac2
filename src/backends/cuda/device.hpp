/// \file
/// Devices: how many, which, how large.
#pragma once

#include <cstddef>
#include <string>

namespace taskdag::cuda {

/// Number of devices; `message` says how many or, for 0, why.
int device_count(std::string& message);

/// Makes `device` (-1: the current one) the calling thread's and opens it. @returns its number. @throws DeviceError
int select_device(int device);

std::string name_of_device(int device);

/// 32 hexadecimal digits; `device` -1: the calling thread's current one. @throws DeviceError
std::string uuid_of_device(int device);
/// Bytes of free memory; −1: of the current one.
double free_memory_of_device(int device);

/// What launches are sized by.
struct DeviceLimits {
  int device = -1;
  int multiprocessors = 0;
  int threads_per_multiprocessor = 0;
  int shared_bytes_per_block = 0;  ///< the most that a kernel can ask for
  int cache_bytes = 0;             ///< of the cache that all multiprocessors share
};
/// Of the current device; read once per thread and device.
const DeviceLimits& device_limits();
/// Shared memory that a block can have on the current device.
inline std::size_t most_shared_bytes() { return static_cast<std::size_t>(device_limits().shared_bytes_per_block); }

/// Makes a context's device current for the lifetime of the guard: a thread may have moved on since.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int previous_ = -1;  // -1: nothing to restore
};

}  // namespace taskdag::cuda
