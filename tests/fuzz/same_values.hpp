/// \file
/// Equality of numbers that were written and read back.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace taskdag::fuzz {

/// Bit by bit, but for what NaNs carry.
inline bool same_values(const std::vector<double>& left, const std::vector<double>& right) {
  return std::ranges::equal(left, right, [](double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (std::isnan(a) && std::isnan(b));
  });
}

}  // namespace taskdag::fuzz
