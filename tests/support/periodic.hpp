/// \file
/// A grid whose lines close: what looks like a grid in most rows, and is none in the order of its triangles.
#pragma once

#include <algorithm>
#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::test {

/// n³ points with 27-point stencils, periodic in x; entries −1, diagonal entries 27.
inline CsrMatrix periodic_grid(Index n) {
  CsrMatrix a;
  a.rows = a.cols = n * n * n;
  std::vector<Index> columns;
  for (Index row = 0; row < a.rows; ++row) {
    columns.clear();
    const Index x = row % n;
    const Index line = row / n;
    for (Index z = std::max<Index>(line / n - 1, 0); z <= std::min(line / n + 1, n - 1); ++z) {
      for (Index y = std::max<Index>(line % n - 1, 0); y <= std::min(line % n + 1, n - 1); ++y) {
        for (Index dx = -1; dx <= 1; ++dx) columns.push_back((z * n + y) * n + (x + dx + n) % n);
      }
    }
    std::ranges::sort(columns);
    for (const Index column : columns) {
      a.col_indices.push_back(column);
      a.values.push_back(column == row ? 27.0 : -1.0);
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  return a;
}

}  // namespace taskdag::test
