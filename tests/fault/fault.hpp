/// \file
/// A source of failures: counts calls of some kind and lets one of them fail.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace taskdag::test {

/// What an object must give back: numbers of things that are held, by kind.
using Held = std::array<std::int64_t, 6>;

class Fault {
 public:
  virtual ~Fault() = default;
  /// Lets the k-th call from now on fail, once. 0: none; calls are counted all the same.
  virtual void arm(std::int64_t k) = 0;
  /// Calls since arm(). None fails from now on.
  virtual std::int64_t disarm() = 0;
  /// The call that failed since arm(); empty: none did.
  [[nodiscard]] virtual std::string failed() const = 0;
  /// Whether what failed was memory: OutOfMemory is the right exception, DeviceError for anything else.
  [[nodiscard]] virtual bool was_memory() const = 0;
  [[nodiscard]] virtual Held held() const = 0;
};

}  // namespace taskdag::test
