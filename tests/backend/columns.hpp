/// \file
/// Several right-hand sides, column by column.
#pragma once

#include <cstddef>
#include <vector>

#include "problems.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::test {

/// What lies between columns.
inline constexpr double kGap = -7.0;

inline std::ptrdiff_t at(Index column, std::ptrdiff_t ld) { return std::ptrdiff_t{column} * ld; }

/// `count` different columns, `ld` apart.
inline std::vector<double> columns(Index rows, Index count, std::ptrdiff_t ld) {
  std::vector<double> b(static_cast<std::size_t>(at(count, ld)), kGap);
  const std::vector<double> one = right_hand_side(rows);
  for (Index k = 0; k < count; ++k) {
    for (Index i = 0; i < rows; ++i) {
      const auto from = static_cast<std::size_t>((i + 3 * k) % rows);
      b[static_cast<std::size_t>(at(k, ld) + i)] = one[from] * (1.0 + 0.25 * k);
    }
  }
  return b;
}

inline std::vector<double> column(const std::vector<double>& x, Index k, std::ptrdiff_t ld, Index rows) {
  return {x.begin() + at(k, ld), x.begin() + at(k, ld) + rows};
}

}  // namespace taskdag::test
