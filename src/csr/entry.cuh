/// \file
/// Where an entry of a pattern is.
#pragma once

#include "backends/cuda/algorithm.cuh"
#include "csr/pattern.hpp"

namespace taskdag::kernels {

/// Entry (row, column), or −1. The columns of a row ascend, and the entry is not looked for before `begin`.
__device__ inline Offset entry_of(const DevicePattern& pattern, Offset begin, Index row, Index column) {
  const Offset end = pattern.row_offsets[row + 1];
  const Offset found = cuda::first_not_below(pattern.col_indices, begin, end, column);
  return found < end && pattern.col_indices[found] == column ? found : -1;
}

}  // namespace taskdag::kernels
