#include "device.hpp"
#include "taskdag/error.hpp"

namespace taskdag::test {

bool device_has_cells() { return false; }

std::unique_ptr<DeviceStream> make_device_stream() { throw DeviceError("the tests were built without CUDA"); }

std::int64_t live_device_bytes() { return 0; }
std::int64_t peak_device_bytes() { return 0; }
void restart_peak() {}
std::int64_t reserved_device_bytes() { return 0; }

}  // namespace taskdag::test
