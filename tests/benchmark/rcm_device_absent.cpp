#include "rcm_device.hpp"
#include "taskdag/error.hpp"

namespace taskdag::benchmark {

std::unique_ptr<OnDevice> make_on_device(const CsrMatrix&) { throw Unsupported("built without CUDA"); }
DeviceWords describe_device() { return {}; }
std::uint64_t most_device_bytes() { return 0; }

}  // namespace taskdag::benchmark
