/// \file
/// Numbers by which to tell whether something is what it was.
#pragma once

#include <atomic>
#include <cstdint>

namespace taskdag::petsc {

/// Larger than all that it has returned in this process.
inline std::uint64_t fresh_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace taskdag::petsc
