/// \file
/// What a row waits for.
#pragma once

#include <algorithm>
#include <span>

#include "taskdag/schedule.hpp"

namespace taskdag {

/// The columns of `row` in the strict triangle. Columns ascend, so they are one end of the row.
inline std::span<const Index> dependencies(const CsrPattern& pattern, Triangle triangle, Index row) {
  const std::span<const Index> all(pattern.col_indices + pattern.row_offsets[row],
                                   pattern.col_indices + pattern.row_offsets[row + 1]);
  // A look first: a pattern may hold the triangle alone.
  if (triangle == Triangle::lower) {
    if (all.empty() || all.back() < row) return all;
    return {all.begin(), std::lower_bound(all.begin(), all.end(), row)};
  }
  if (all.empty() || all.front() > row) return all;
  return {std::upper_bound(all.begin(), all.end(), row), all.end()};
}

}  // namespace taskdag
