#include "rcm_device.hpp"
#include "taskdag/error.hpp"

namespace taskdag::benchmark {

std::unique_ptr<OnDevice> make_on_device(const CsrMatrix&) { throw Unsupported("built without CUDA"); }
DeviceWords describe_device() { return {}; }

}  // namespace taskdag::benchmark
