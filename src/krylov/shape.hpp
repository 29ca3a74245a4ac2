/// \file
/// How the rows of a matrix are shared out in the stages that multiply by it.
#pragma once

#include <cstdint>
#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/engine/platform.hpp"

namespace taskdag::krylov {

/// Host: rows of each thread, about as many entries and rows, and whole blocks (engine::HostFlow).
std::vector<std::uint32_t> cut_rows(const CsrPattern& a, std::uint32_t block, int threads);

/// Host: one where the others would have so little of a stage that to hand it out takes longer: some microseconds.
int threads_of_loop(const Context& context, std::int64_t rows, std::int64_t entries);

/// How many threads share a row of a product on CUDA. Neighbours read neighbouring entries. With a thread for each
/// short row, the rows that are worked on at a time are too many for the nearest caches once the matrix is large: on an
/// H200 a 7-point grid of 160³ takes 279 µs an iteration of CG with a thread a row, 215 with two, 234 with four;
/// 64³ 23.2 and 21.9. Rows of five are short enough.
int threads_of_row(std::int64_t rows, std::int64_t entries);
/// Of a row that is not the first one; its columns may be in memory of either side.
TASKDAG_TASK inline bool has_columns_of_row_before(const CsrPattern& pattern, Index row) {
  const Offset before = pattern.row_offsets[row - 1];
  const Offset begin = pattern.row_offsets[row];
  const Offset count = begin - before;
  if (pattern.row_offsets[row + 1] - begin != count) return false;
  for (Offset e = 0; e < count; ++e) {
    if (pattern.col_indices[before + e] != pattern.col_indices[begin + e]) return false;
  }
  return true;
}
/// How many consecutive rows each have the same columns, as those of a node with several unknowns do: up to
/// engine::TaskGroup::most, a divisor of their number. Of a matrix in host memory.
std::uint32_t rows_together(const CsrPattern& pattern);

}  // namespace taskdag::krylov
