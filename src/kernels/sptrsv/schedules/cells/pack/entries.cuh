/// \file
/// Which of a row's entries the compute warp multiplies: those of its own cell whose results are still in the ring.
#pragma once

#include "kernels/sptrsv/schedules/cells/layout.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels::cells {

/// The strictly triangular entries of all rows, and the position and level of each row.
struct EntriesOfRows {
  const Index* col_indices;
  const Offset* first;
  const Index* count;
  const Index* position;
  const Index* level;
};

inline EntriesOfRows entries_of(const SweepInput& input, const Layout& layout) {
  return {input.pattern.col_indices, input.ranges->first.data(), input.ranges->count.data(), layout.position.data(),
          input.levels->level.data()};
}

/// The cell that holds step t: the last one whose first step is t or an earlier one. first_step(c): of cell c.
template <class FirstStep>
__device__ int cell_of_step(const FirstStep& first_step, int cells, Index t) {
  int low = 0;
  int high = cells;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (first_step(middle) <= t) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Whether an operand of step `from` is in the ring when step `t` of the cell that begins at `cell_begin` runs.
__device__ inline bool is_inside(Index from, Index t, Index cell_begin) {
  return from >= cell_begin && t - from < kHistory;
}

/// How many operands of a row are in the ring when it runs, in step t.
__device__ inline Index count_inside(const EntriesOfRows& entries, Index row, Index t, Index cell_begin) {
  Index inside = 0;
  for (Index e = 0; e < entries.count[row]; ++e) {
    const Index from = entries.position[entries.col_indices[entries.first[row] + e]] / kLanes;
    if (is_inside(from, t, cell_begin)) ++inside;
  }
  return inside;
}

}  // namespace taskdag::kernels::cells
