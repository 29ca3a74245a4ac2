#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <system_error>

#include "backends/cuda/check.hpp"
#include "backends/cuda/device.hpp"
#include "backends/cuda/device_rates.hpp"
#include "backends/cuda/generation.hpp"
#include "backends/cuda/measure_times.hpp"
#include "backends/cuda/memory.hpp"
#include "base/rates/rates_file.hpp"
#include "taskdag/error.hpp"

namespace taskdag::cuda {
namespace {

/// What this process has looked up or measured, by device.
struct Known {
  std::mutex mutex;
  std::map<int, Calibration> calibrations;
};
Known& known() {
  static Known& instance = *new Known;  // never destroyed: sweeps may be made while the process ends
  return instance;
}

rates::RatesKey key_of(int device) {
  rates::RatesKey key{name_of_device(device)};
  check(cudaDriverGetVersion(&key.driver), "asking for the driver's version");
  return key;
}

double attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "asking how fast the device is");
  return value;
}

/// Of the current device. The clocks, which take longer to ask for than what a set-up asks, only where they are needed.
rates::DeviceFacts facts_of(int device) {
  rates::DeviceFacts facts{generation()};
  if (rates::has_own_defaults(facts.generation)) return facts;
  facts.kilohertz = attribute(cudaDevAttrClockRate, device);
  constexpr double kTransfersPerCycle = 2.0;
  constexpr double kBitsPerByte = 8.0;
  constexpr double kMillisecond = 1e3;
  facts.bytes_per_microsecond = kTransfersPerCycle * attribute(cudaDevAttrMemoryClockRate, device) / kMillisecond *
                                attribute(cudaDevAttrGlobalMemoryBusWidth, device) / kBitsPerByte;
  return facts;
}

Calibration measured(const rates::DeviceTimes& times, const std::string& path) {
  return {rates::rates_of(times), path.empty() ? "calibrated" : "calibrated, " + path};
}

/// Of the current device. Without a file its name, which takes a while to ask for, too, is not needed.
Calibration look_up(int device) {
  const std::string path = rates::file_of_user();
  std::error_code none;
  if (std::filesystem::exists(path, none)) {
    if (const auto times = rates::find_times(path, key_of(device))) return measured(*times, path);
  }
  return rates::default_calibration(facts_of(device));
}

/// The same, looked up once; while the lock is held.
const Calibration& of_current(int device) {
  auto& calibrations = known().calibrations;
  const auto found = calibrations.find(device);
  return found != calibrations.end() ? found->second : calibrations.emplace(device, look_up(device)).first->second;
}

rates::DeviceTimes measure_undisturbed() {
  const rates::DeviceTimes times = measure_times();
  if (rates::are_plausible(rates::rates_of(times))) return times;
  throw DeviceError("the calibration has measured what no device takes: other work has come between");
}

}  // namespace

Calibration calibration_of_device(int device) {
  const DeviceGuard guard(device);
  const std::lock_guard lock(known().mutex);
  return of_current(device);
}

DeviceRates device_rates() {
  const int device = current_device();
  const std::lock_guard lock(known().mutex);
  return of_current(device).rates;
}

Calibration calibrate_device(int device, bool again) {
  const DeviceGuard guard(device);
  const std::string path = rates::file_of_user();
  const Calibration result = measured(rates::settle_times(path, key_of(device), again, measure_undisturbed), path);
  const std::lock_guard lock(known().mutex);
  known().calibrations.insert_or_assign(device, result);
  return result;
}

}  // namespace taskdag::cuda
