/// \file
/// Failures of the CUDA runtime: its calls go through failing_cuda.cpp where the linker wraps them (CMakeLists.txt has
/// the list), and are counted there.
#pragma once

#include "fault/fault.hpp"

namespace taskdag::test {

class FailingCuda final : public Fault {
 public:
  void arm(std::int64_t k) override;
  std::int64_t disarm() override;
  [[nodiscard]] std::string failed() const override;
  [[nodiscard]] bool was_memory() const override;
  /// Pieces of device memory, of page-locked memory, events, streams, graphs, graphs that can be launched.
  [[nodiscard]] Held held() const override;
};

}  // namespace taskdag::test
