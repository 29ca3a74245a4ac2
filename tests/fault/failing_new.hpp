/// \file
/// Failures of host memory: the program's operator new is replaced where failing_new.cpp is linked.
#pragma once

#include "fault/fault.hpp"

namespace taskdag::test {

class FailingNew final : public Fault {
 public:
  void arm(std::int64_t k) override;
  std::int64_t disarm() override;
  [[nodiscard]] std::string failed() const override;
  [[nodiscard]] bool was_memory() const override { return true; }
  /// The first number: pieces of memory of operator new.
  [[nodiscard]] Held held() const override;
};

}  // namespace taskdag::test
