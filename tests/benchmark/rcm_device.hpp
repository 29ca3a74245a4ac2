/// \file
/// Device memory and the device's name for the benchmark of RCM; rcm_device_absent.cpp in a build without CUDA.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::benchmark {

/// A pattern in device memory, and room for its order.
class OnDevice {
 public:
  virtual ~OnDevice() = default;
  [[nodiscard]] virtual CsrPattern pattern() const = 0;
  [[nodiscard]] virtual Index* order() const = 0;
  [[nodiscard]] virtual std::vector<Index> fetch() const = 0;
};
std::unique_ptr<OnDevice> make_on_device(const CsrMatrix& a);

/// Empty where there is no device.
struct DeviceWords {
  std::string gpu;
  std::string driver;  ///< "580.159.04", else empty
  std::string cuda;    ///< of the runtime
};
DeviceWords describe_device();

/// The most bytes of device memory that the library had in use since the last call; 0 without CUDA.
std::uint64_t most_device_bytes();

}  // namespace taskdag::benchmark
