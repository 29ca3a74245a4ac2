/// \file
/// GPUs that do not reach each other's memory.
#pragma once

namespace taskdag::test {

/// Whether memory of other processes' GPUs cannot be opened from now on.
inline bool& peer_is_unreachable() {
  static bool unreachable = false;
  return unreachable;
}

}  // namespace taskdag::test
