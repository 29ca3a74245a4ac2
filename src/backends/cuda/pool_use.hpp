/// \file
/// How much device memory the library has in use, and how much it keeps beside that.
#pragma once

#include <cstdint>

namespace taskdag::cuda {

/// The most bytes of the library's arrays on the current device that were in use at once since the last call, which
/// starts anew with what is in use now; of two calls in a row the second says that. @throws DeviceError
std::uint64_t most_device_bytes();

/// The same without starting anew, and what is in use now. Arrays that go in the order of a stream count as gone at
/// once.
struct DeviceBytes {
  std::int64_t live = 0;
  std::int64_t peak = 0;
};
/// @throws DeviceError
DeviceBytes device_bytes();

/// What the pool of the current device has taken from it, in use or not; 0 where there is none yet. Waits for the
/// device. @throws DeviceError
std::int64_t reserved_device_bytes();

/// While it lives, the pool of the current device keeps what is freed: a set-up takes and frees the same memory again
/// and again, and to get it from the device takes longer than its kernels. When the last one goes, what is free goes
/// back, but for a little. @throws DeviceError
class PoolKeeps {
 public:
  PoolKeeps();
  ~PoolKeeps();
  PoolKeeps(const PoolKeeps&) = delete;
  PoolKeeps& operator=(const PoolKeeps&) = delete;

 private:
  int device_;
};

}  // namespace taskdag::cuda
