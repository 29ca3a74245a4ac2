/// \file
/// Which cell a row is in, where cells are runs of rows.
#pragma once

#include <cuda_runtime_api.h>

#include "csr/pattern.hpp"

namespace taskdag::kernels::cells {

/// Runs of consecutive rows with about equally many entries, each row counting as some more; numbered in the direction
/// of the sweep.
struct Runs {
  const Offset* row_offsets;
  Index rows;
  bool lower;
  int cells;

  __device__ int operator()(Index row) const {
    const std::int64_t share = weight_before(row) * cells / weight_before(rows);
    return static_cast<int>(lower ? share : cells - 1 - share);
  }

 private:
  __device__ std::int64_t weight_before(Index row) const {
    return std::int64_t{row_offsets[row]} + 2 * std::int64_t{row};
  }
};

}  // namespace taskdag::kernels::cells
