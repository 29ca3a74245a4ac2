/// \file
/// The device's functions in builds without CUDA, which refuse.
#include "context/device.hpp"
#include "taskdag/error.hpp"

namespace taskdag::cuda {

namespace {
[[noreturn]] void refuse() { throw DeviceError("the CUDA backend is not usable: built without CUDA"); }
}  // namespace

DeviceProbe probe() { return {.built_with_cuda = false, .devices = 0, .message = "built without CUDA"}; }
int open_device(int) { refuse(); }
std::string device_name(int) { refuse(); }
std::string device_uuid(int) { refuse(); }
double device_free_memory(int) { refuse(); }
Calibration calibration(int) { refuse(); }
Calibration calibrate(int, bool) { refuse(); }

}  // namespace taskdag::cuda
