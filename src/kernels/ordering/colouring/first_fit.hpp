/// \file
/// The least colour that a vertex may take, found in windows of 64 colours.
#pragma once

#include <cstdint>

#include "base/macros.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// Colours [base, base + 64) that neighbours have.
struct ColourWindow {
  Index base = 0;
  std::uint64_t taken = 0;

  TASKDAG_HD void add(Index colour) {
    const Index bit = colour - base;
    if (bit >= 0 && bit < 64) taken |= std::uint64_t{1} << static_cast<unsigned>(bit);
  }
  /// Whether a colour of the window is free; else the next window has to be looked at.
  [[nodiscard]] TASKDAG_HD bool has_free() const { return ~taken != 0; }
  /// @pre has_free()
  [[nodiscard]] TASKDAG_HD Index first_free() const {
#if defined(__CUDA_ARCH__)
    return base + __ffsll(static_cast<long long>(~taken)) - 1;
#else
    return base + __builtin_ctzll(~taken);
#endif
  }
  TASKDAG_HD void advance() {
    base += 64;
    taken = 0;
  }
};

}  // namespace taskdag::kernels
