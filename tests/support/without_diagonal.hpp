/// \file
/// Rows that lack their diagonal entries.
#pragma once

#include <algorithm>
#include <cstddef>

#include "taskdag/csr.hpp"

namespace taskdag::test {

/// The matrix without the diagonal entry of `row`, which it has.
inline CsrMatrix without_diagonal(CsrMatrix a, Index row) {
  const auto next = static_cast<std::size_t>(row) + 1;
  const auto end = a.col_indices.begin() + a.row_offsets[next];
  const auto entry = std::find(a.col_indices.begin() + a.row_offsets[next - 1], end, row);
  a.values.erase(a.values.begin() + (entry - a.col_indices.begin()));
  a.col_indices.erase(entry);
  for (std::size_t i = next; i < a.row_offsets.size(); ++i) --a.row_offsets[i];
  return a;
}

}  // namespace taskdag::test
