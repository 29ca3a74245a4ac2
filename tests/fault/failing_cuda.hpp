/// \file
/// Failures of the CUDA runtime: its calls go through failing_cuda.cpp where the linker wraps them (CMakeLists.txt has
/// the list), and are counted there.
#pragma once

#include "fault/fault.hpp"

namespace taskdag::test {

/// What calls have cost beside launches.
struct Costs {
  std::int64_t waits = 0;   ///< of the host for a stream, an event or the device
  std::int64_t memory = 0;  ///< pieces of device or page-locked memory, taken and given back
  std::int64_t copies = 0;  ///< to or from the host
  bool operator==(const Costs&) const = default;
};

class FailingCuda final : public Fault {
 public:
  void arm(std::int64_t k) override;
  std::int64_t disarm() override;
  [[nodiscard]] std::string failed() const override;
  [[nodiscard]] bool was_memory() const override;
  /// Pieces of device memory, of page-locked memory, events, streams, graphs, graphs that can be launched.
  [[nodiscard]] Held held() const override;
  /// Since arm().
  [[nodiscard]] static Costs costs();
};

}  // namespace taskdag::test
