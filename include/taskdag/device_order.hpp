/// \file
/// An order of rows in device memory.
#pragma once

#include <vector>

#include "taskdag/csr.hpp"
#include "taskdag/export.hpp"

namespace taskdag {

/// order[new] = old, a permutation, in the memory of the device where it was made (BlockOrderingOptions::on_device).
class TASKDAG_API DeviceOrder {
 public:
  DeviceOrder() = default;
  DeviceOrder(const DeviceOrder&) = delete;
  DeviceOrder& operator=(const DeviceOrder&) = delete;
  virtual ~DeviceOrder();
  [[nodiscard]] virtual int device() const = 0;
  [[nodiscard]] virtual Index rows() const = 0;
  [[nodiscard]] virtual const Index* data() const = 0;
  /// A copy in host memory. Waits for it. @throws DeviceError
  [[nodiscard]] virtual std::vector<Index> to_host() const = 0;
};

}  // namespace taskdag
