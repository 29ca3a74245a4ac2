#include "backends/cuda/device.hpp"
#include "backends/cuda/device_rates.hpp"
#include "backends/cuda/generation.hpp"
#include "context/device.hpp"

namespace taskdag::cuda {

DeviceProbe probe() {
  DeviceProbe result;
  result.built_with_cuda = true;
  result.devices = device_count(result.message);
  return result;
}

int open_device(int device) {
  const int opened = select_device(device);
  try_device();
  return opened;
}

std::string device_name(int device) { return name_of_device(device); }

std::string device_uuid(int device) { return uuid_of_device(device); }
double device_free_memory(int device) { return free_memory_of_device(device); }
Calibration calibration(int device) { return calibration_of_device(device); }
Calibration calibrate(int device, bool again) { return calibrate_device(device, again); }

}  // namespace taskdag::cuda
