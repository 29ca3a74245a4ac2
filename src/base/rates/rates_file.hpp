/// \file
/// Calibrations that outlive a run: a JSON file in the user's cache folder, by device and driver.
///
/// Several processes may use it (base/shared_file.hpp). What it is for is to save time, so it ends no set-up: a file
/// that is damaged or cannot be read holds nothing, one that cannot be written stays as it is, each with a warning.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/rates/rates.hpp"

namespace taskdag::rates {

/// What a calibration holds for: devices of one name are alike, and launches depend on the driver.
struct RatesKey {
  std::string device;
  int driver = 0;  ///< the CUDA version that it has, as cudaDriverGetVersion() says it
  bool operator==(const RatesKey&) const = default;
};

/// Where the environment puts it: see calibrate(). Empty: the environment has no such folder.
std::string file_of_user();

/// What the file holds for `key`, if it is there and holds any.
std::optional<DeviceTimes> find_times(const std::string& path, const RatesKey& key);

/// The same, or else, and in any case if `again`, what `measure` returns, which is then written to the file. The folder
/// is made where it is missing. Other processes that measure for this file wait meanwhile. @throws what `measure`
/// throws
DeviceTimes settle_times(const std::string& path, const RatesKey& key, bool again,
                         const std::function<DeviceTimes()>& measure);

}  // namespace taskdag::rates
